-- For each fence the highest fencing token claimed, and by which candidate.
CREATE TABLE IF NOT EXISTS fences (
    name     TEXT PRIMARY KEY,
    token    INTEGER NOT NULL, -- BIGINT elsewhere
    claimant TEXT    NOT NULL
);
INSERT INTO fences (name, token, claimant) VALUES ('invoices', 0, '') ON CONFLICT DO NOTHING;

-- What is fenced. The token in each row is for people: no guard needs it. Elsewhere the
-- number would be UNIQUE; here nothing but the guard is to stop a late write.
CREATE TABLE IF NOT EXISTS invoices (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    number INTEGER NOT NULL,
    token  INTEGER NOT NULL
);
