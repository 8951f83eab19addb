-- A ledger of 0.1.0, as `iterdump` of sqlite3 shows it.
PRAGMA application_id = 1097092199;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE adclient_ledger (
        number BIGINT PRIMARY KEY,
        event TEXT NOT NULL,
        recorded_at TEXT NOT NULL,
        entry_id TEXT NOT NULL,
        account_id TEXT NOT NULL,
        change TEXT,
        state TEXT NOT NULL,
        at TEXT NOT NULL,
        day TEXT NOT NULL,
        drafts_of_day BIGINT NOT NULL,
        blocks INTEGER NOT NULL,
        entry TEXT NOT NULL,
        hash TEXT NOT NULL
    );
INSERT INTO "adclient_ledger" VALUES(1,'reserved','2026-11-23T09:07:00.000000+00:00','f9c60bded612425e842f80f326567f23','account_b204','2026-w47:37d8c76b819147031f6fd414155e8339','admitted','2026-11-23T09:07:00.000000+00:00','2026-11-23',1,0,'{"entry_id":"f9c60bded612425e842f80f326567f23","at":"2026-11-23T09:07:00.000000+00:00","state":"admitted","operation":"beta.pause_campaign","account_id":"account_b204","arguments":{"account_id":"account_b204","campaign_id":"campaign_57a7"},"change":"2026-w47:37d8c76b819147031f6fd414155e8339"}','0ba6d0b508fa67fd7d2b5fc4c30c0a8b010b2ef3428af9d50af25a31680fb43f');
INSERT INTO "adclient_ledger" VALUES(2,'ended','2026-11-23T09:14:00.000000+00:00','f9c60bded612425e842f80f326567f23','account_b204','2026-w47:37d8c76b819147031f6fd414155e8339','staged','2026-11-23T09:07:00.000000+00:00','2026-11-23',1,0,'{"entry_id":"f9c60bded612425e842f80f326567f23","at":"2026-11-23T09:07:00.000000+00:00","state":"staged","operation":"beta.pause_campaign","account_id":"account_b204","arguments":{"account_id":"account_b204","campaign_id":"campaign_57a7"},"change":"2026-w47:37d8c76b819147031f6fd414155e8339","draft_id":"draft_35ea","diff":{"field":"status","before":"ENABLED","after":"PAUSED"}}','5275ea4f657b968b540c884f5be1dca29705de9261c05b556fe4cc09e4dc4b31');
INSERT INTO "adclient_ledger" VALUES(3,'reserved','2026-11-23T09:35:00.000000+00:00','5fec87ebb8044be48e07818eb32afcff','account_a91f',NULL,'admitted','2026-11-23T09:35:00.000000+00:00','2026-11-23',2,0,'{"entry_id":"5fec87ebb8044be48e07818eb32afcff","at":"2026-11-23T09:35:00.000000+00:00","state":"admitted","operation":"alpha.update_campaign_budget","account_id":"account_a91f","arguments":{"account_id":"account_a91f","campaign_id":"campaign_4c10","daily_budget":180}}','f62a89ed34b3b523aa200ccd37c86be5bacbe0320570d0b72a456d7366f5c4ab');
INSERT INTO "adclient_ledger" VALUES(4,'ended','2026-11-23T09:42:00.000000+00:00','5fec87ebb8044be48e07818eb32afcff','account_a91f',NULL,'staged','2026-11-23T09:35:00.000000+00:00','2026-11-23',2,1,'{"entry_id":"5fec87ebb8044be48e07818eb32afcff","at":"2026-11-23T09:35:00.000000+00:00","state":"staged","operation":"alpha.update_campaign_budget","account_id":"account_a91f","arguments":{"account_id":"account_a91f","campaign_id":"campaign_4c10","daily_budget":180},"draft_id":"draft_d421","diff":{"field":"daily_budget","before":100,"after":180},"over_limit":"daily_budget: 100 → 180, and change_at_most allows 25 %"}','71b270d6741ad278b26ab7dacee66aadd78545dc6ff90913662f29e0ae9291e7');
INSERT INTO "adclient_ledger" VALUES(5,'reserved','2026-11-23T09:49:00.000000+00:00','16e44928cc54456588366d964d4f24ed','account_a91f',NULL,'refused','2026-11-23T09:49:00.000000+00:00','2026-11-23',2,0,'{"entry_id":"16e44928cc54456588366d964d4f24ed","at":"2026-11-23T09:49:00.000000+00:00","state":"refused","operation":"alpha.update_campaign_budget","account_id":"account_a91f","arguments":{"account_id":"account_a91f","campaign_id":"campaign_4c10","daily_budget":110},"rule":"change_at_most","reason":"change_at_most allows no further write to an account whose draft draft_d421 is over the limit, until somebody settles it in the ledger"}','5ebaeb72171a72a0df2561e131c2d12cbca7fe71b9e5ea22a3b73a19ece53875');
INSERT INTO "adclient_ledger" VALUES(6,'settled','2026-11-23T10:03:00.000000+00:00','5fec87ebb8044be48e07818eb32afcff','account_a91f',NULL,'staged','2026-11-23T09:35:00.000000+00:00','2026-11-23',2,0,'{"entry_id":"5fec87ebb8044be48e07818eb32afcff","at":"2026-11-23T09:35:00.000000+00:00","state":"staged","operation":"alpha.update_campaign_budget","account_id":"account_a91f","arguments":{"account_id":"account_a91f","campaign_id":"campaign_4c10","daily_budget":180},"draft_id":"draft_d421","diff":{"field":"daily_budget","before":100,"after":180},"over_limit":"daily_budget: 100 → 180, and change_at_most allows 25 %","settled_by":"kim"}','e56c46d03aad0b4444f980e8be7ea00be06e970154a1da45e7c3c002a30e8b2f');
INSERT INTO "adclient_ledger" VALUES(7,'reserved','2026-11-23T10:10:00.000000+00:00','ff2886ade3934f61b0a0b23bce98f354','account_b204',NULL,'admitted','2026-11-23T10:10:00.000000+00:00','2026-11-23',3,0,'{"entry_id":"ff2886ade3934f61b0a0b23bce98f354","at":"2026-11-23T10:10:00.000000+00:00","state":"admitted","operation":"beta.pause_campaign","account_id":"account_b204","arguments":{"account_id":"account_b204","campaign_id":"campaign_cb1a"}}','0de89f1456c1f3a2139016b48e589ff28ac6aee4e4b81cb2f38d2e61c3202ed0');
INSERT INTO "adclient_ledger" VALUES(8,'ended','2026-11-23T10:17:00.000000+00:00','ff2886ade3934f61b0a0b23bce98f354','account_b204',NULL,'unknown','2026-11-23T10:10:00.000000+00:00','2026-11-23',3,0,'{"entry_id":"ff2886ade3934f61b0a0b23bce98f354","at":"2026-11-23T10:10:00.000000+00:00","state":"unknown","operation":"beta.pause_campaign","account_id":"account_b204","arguments":{"account_id":"account_b204","campaign_id":"campaign_cb1a"},"reason":"OutcomeUnknownConnectionLost: beta.pause_campaign: the connection was dropped (POST https://fake.adclient.test/v1/beta-ads/pause-beta-campaign, 0 s). A draft may have been staged: look for it in the …"}','c7427b41f9365068f2335d26b3f07c3fa80c889a9846a1b97cebb31d6de2e034');
CREATE INDEX adclient_ledger_entry ON adclient_ledger (entry_id, number);
CREATE INDEX adclient_ledger_day ON adclient_ledger (day, number);
CREATE INDEX adclient_ledger_change ON adclient_ledger (change)
    WHERE change IS NOT NULL
    ;
CREATE INDEX adclient_ledger_blocks ON adclient_ledger (account_id)
    WHERE blocks = 1
    ;
CREATE TRIGGER adclient_ledger_update BEFORE update ON adclient_ledger
     BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER adclient_ledger_delete BEFORE delete ON adclient_ledger
     BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER adclient_ledger_insert BEFORE insert ON adclient_ledger
    WHEN new.number <= (SELECT max(number) FROM adclient_ledger) BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
COMMIT;
