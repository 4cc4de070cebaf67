-- Which store this is, whatever it is called or wherever it is moved: made with it, never changed. Beside
-- it, by the name lease: how long the leases of the newest leadership may last, in milliseconds.
INSERT INTO meta (name, value) VALUES ('store_id', lower(hex(randomblob(16))));

PRAGMA user_version = 9;
