-- A ledger of format 1 that 0.2.0 has written, as `iterdump` of sqlite3 shows it.
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
INSERT INTO "adclient_ledger" VALUES(1,'reserved','2026-11-26T09:01:00.000000+00:00','8fff6b3087e247d49537283f162dc241','account_b204','2026-w48:37d8c76b819147031f6fd414155e8339','admitted','2026-11-26T09:01:00.000000+00:00','2026-11-26',1,0,'{"actor":"kim","entry_id":"8fff6b3087e247d49537283f162dc241","at":"2026-11-26T09:01:00.000000+00:00","state":"admitted","operation":"beta.pause_campaign","account_id":"account_b204","arguments":{"account_id":"account_b204","campaign_id":"campaign_57a7"},"change":"2026-w48:37d8c76b819147031f6fd414155e8339","why":"It has spent its budget"}','0b1002ad8fb1a09023518c612b94daec661c13602847ec4978144ee6b6a0494c');
INSERT INTO "adclient_ledger" VALUES(2,'ended','2026-11-26T09:02:00.000000+00:00','8fff6b3087e247d49537283f162dc241','account_b204','2026-w48:37d8c76b819147031f6fd414155e8339','staged','2026-11-26T09:01:00.000000+00:00','2026-11-26',1,0,'{"actor":"kim","entry_id":"8fff6b3087e247d49537283f162dc241","at":"2026-11-26T09:01:00.000000+00:00","state":"staged","operation":"beta.pause_campaign","account_id":"account_b204","arguments":{"account_id":"account_b204","campaign_id":"campaign_57a7"},"change":"2026-w48:37d8c76b819147031f6fd414155e8339","why":"It has spent its budget","draft_id":"draft_35ea","diff":{"field":"status","before":"ENABLED","after":"PAUSED"}}','90299a3de0c0c83c4a2cb7d363eaeb77e81367947c3e0b4813f121b0d88a3836');
INSERT INTO "adclient_ledger" VALUES(3,'reserved','2026-11-26T09:03:00.000000+00:00','e62d445f03714eeabc7d8531a3d23b71','account_b204','2026-w48:8a375baedca8ca25b54b133761e59afc','admitted','2026-11-26T09:03:00.000000+00:00','2026-11-26',2,0,'{"actor":"kim","entry_id":"e62d445f03714eeabc7d8531a3d23b71","at":"2026-11-26T09:03:00.000000+00:00","state":"admitted","operation":"beta.pause_campaign","account_id":"account_b204","arguments":{"account_id":"account_b204","campaign_id":"campaign_cb1a"},"change":"2026-w48:8a375baedca8ca25b54b133761e59afc"}','5a617559fbb788564ba96875cfa29ddea7436aeb40c386c51983d68394f7fbee');
INSERT INTO "adclient_ledger" VALUES(4,'reserved','2026-11-26T09:04:00.000000+00:00','71e8b987b9434014b505136b32bc9efc','account_b204',NULL,'admitted','2026-11-26T09:04:00.000000+00:00','2026-11-26',3,0,'{"actor":"budget-bot","entry_id":"71e8b987b9434014b505136b32bc9efc","at":"2026-11-26T09:04:00.000000+00:00","state":"admitted","operation":"beta.pause_campaign","account_id":"account_b204","arguments":{"account_id":"account_b204","campaign_id":"campaign_1dce"}}','8a16694516fff00a18667331cd146f634aa666965fc6dd5b922242ce3f669d64');
INSERT INTO "adclient_ledger" VALUES(5,'ended','2026-11-26T09:05:00.000000+00:00','71e8b987b9434014b505136b32bc9efc','account_b204',NULL,'unknown','2026-11-26T09:04:00.000000+00:00','2026-11-26',3,0,'{"actor":"budget-bot","entry_id":"71e8b987b9434014b505136b32bc9efc","at":"2026-11-26T09:04:00.000000+00:00","state":"unknown","operation":"beta.pause_campaign","account_id":"account_b204","arguments":{"account_id":"account_b204","campaign_id":"campaign_1dce"},"reason":"OutcomeUnknownConnectionLost: beta.pause_campaign: the connection was dropped (POST https://fake.adclient.test/v1/beta-ads/pause-beta-campaign, 0 s). A draft may have been staged: look for it in the …"}','1b0f998b03f09c1d7a15363f339612453c4831bcb56cfc053652b1a7caf00928');
INSERT INTO "adclient_ledger" VALUES(6,'reserved','2026-11-26T09:06:00.000000+00:00','32d4b9f0c40247d99ca94c6c602ceeee','account_a91f',NULL,'refused','2026-11-26T09:06:00.000000+00:00','2026-11-26',3,0,'{"actor":"budget-bot","entry_id":"32d4b9f0c40247d99ca94c6c602ceeee","at":"2026-11-26T09:06:00.000000+00:00","state":"refused","operation":"beta.pause_campaign","account_id":"account_a91f","arguments":{"account_id":"account_a91f","campaign_id":"campaign_1dce"},"rule":"accounts","reason":"account account_a91f is not one of the policy''s accounts"}','a5e141933debe6d79159578516f32f612e524b5a5fdae43f5d9e8278ca8a42b6');
CREATE INDEX adclient_ledger_entry ON adclient_ledger (entry_id, number);
CREATE INDEX adclient_ledger_day ON adclient_ledger (day, number);
CREATE INDEX adclient_ledger_change ON adclient_ledger (change)
    WHERE change IS NOT NULL
    ;
CREATE INDEX adclient_ledger_blocks ON adclient_ledger (account_id)
    WHERE blocks = 1
    ;
CREATE INDEX adclient_ledger_account ON adclient_ledger (account_id, day) WHERE state NOT IN ('refused', 'not staged');
CREATE TRIGGER adclient_ledger_update BEFORE update ON adclient_ledger
     BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER adclient_ledger_delete BEFORE delete ON adclient_ledger
     BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER adclient_ledger_insert BEFORE insert ON adclient_ledger
    WHEN new.number <= (SELECT max(number) FROM adclient_ledger) BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
COMMIT;
