-- The tables of a store in PostgreSQL as version 1 of them made them, with one model that it stored.
CREATE SCHEMA torqued;
CREATE TABLE torqued.schema (version int NOT NULL, readable_from int NOT NULL);
INSERT INTO torqued.schema VALUES (0, 1);
CREATE TABLE torqued.counter (change bigint NOT NULL);
INSERT INTO torqued.counter VALUES (0);
CREATE TABLE torqued.models (name text PRIMARY KEY, change bigint NOT NULL UNIQUE, revision text NOT NULL,
 record bytea NOT NULL, changed timestamptz NOT NULL DEFAULT now());
ALTER TABLE torqued.models ALTER record SET STORAGE EXTERNAL;
CREATE TABLE torqued.orders (token text PRIMARY KEY, change bigint NOT NULL,
 ordered timestamptz NOT NULL DEFAULT now());
CREATE INDEX ON torqued.orders (ordered);
CREATE FUNCTION torqued.change_model(the_token text, the_name text, base bigint, the_revision text,
 the_record bytea) RETURNS bigint LANGUAGE plpgsql AS $$
 DECLARE number bigint; earlier bigint;
 BEGIN
  SELECT change + 1 INTO number FROM torqued.counter FOR UPDATE;
  SELECT change INTO earlier FROM torqued.orders WHERE token = the_token;
  IF FOUND THEN RETURN earlier; END IF;
  UPDATE torqued.models SET change = number, revision = the_revision, record = the_record, changed = now()
   WHERE name = the_name AND change = base;
  IF NOT FOUND THEN
   IF base <> 0 THEN RETURN 0; END IF;
   INSERT INTO torqued.models (name, change, revision, record)
    VALUES (the_name, number, the_revision, the_record) ON CONFLICT (name) DO NOTHING;
   IF NOT FOUND THEN RETURN 0; END IF;
  END IF;
  DELETE FROM torqued.orders WHERE ordered < now() - interval '2 days';
  INSERT INTO torqued.orders (token, change) VALUES (the_token, number);
  UPDATE torqued.counter SET change = number;
  PERFORM pg_notify('torqued', number::text);
  RETURN number;
 END $$;
UPDATE torqued.schema SET version = 1;
SELECT torqued.change_model('token', 'mine', 0, '581050baca2fc3b67b77a0b4ae2417f6', convert_to(
'{"version":1,"document":{"name":"mine","gravity":[0,0,-9.81],"base":{"type":"fixed","link":"base"}' ||
',"links":[{"name":"bob","parent":"base","joint":{"name":"pivot","type":"revolute","axis":[0,1,0]},"inertial":{"mass":2,"com":[0,0,-0.5]}}]}' ||
',"report":[{"severity":"info","code":"assumed","where":"/gravity","text":"no gravity given: [0,0,-9.81] m/s^2"}]' ||
',"sha256":"e99879c67268922705cf04388501c2bcea4a2fcb7712b26322c1abb549245593"}', 'UTF8'));
