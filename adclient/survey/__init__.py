"""What `adclient.doctor` and `adclient.conform` find out about a service, in one session each."""
