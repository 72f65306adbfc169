-- The guard: for each election the highest fencing token that the database has accepted.
CREATE TABLE fences (
    name  TEXT PRIMARY KEY,
    token INTEGER NOT NULL -- BIGINT elsewhere
);
INSERT INTO fences (name, token) VALUES ('invoice-sender', 0);

-- What is guarded. That the token is kept with each row is for people, and for the
-- verdict of this demo.
CREATE TABLE invoices_sent (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    number  INTEGER NOT NULL,
    token   INTEGER NOT NULL,
    sent_by TEXT    NOT NULL
);

-- The control.
CREATE TABLE unguarded_sent (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    number  INTEGER NOT NULL,
    token   INTEGER NOT NULL,
    sent_by TEXT    NOT NULL
);
