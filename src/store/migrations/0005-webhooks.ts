import type { Migration } from '../migration.ts';

export const webhooks: Migration = {
  name: 'webhooks',
  sql: `
    ALTER TABLE broadcasts ADD COLUMN live_at_ms INTEGER;

    CREATE TABLE webhooks (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      events TEXT NOT NULL CHECK (json_valid(events) AND json_type(events) = 'array'),
      url TEXT NOT NULL,
      signature_secret TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX webhooks_by_creation ON webhooks (project_id, created_at_ms, id);

    -- Those whose deliveries are still to be removed, which is done bit by bit.
    CREATE TABLE removed_webhooks (webhook_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TRIGGER webhooks_removed AFTER DELETE ON webhooks BEGIN
      INSERT INTO removed_webhooks (webhook_id) VALUES (old.id);
    END;

    CREATE TABLE webhook_deliveries (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      webhook_id TEXT NOT NULL,
      event_number INTEGER NOT NULL,
      type TEXT NOT NULL,
      sequence TEXT NOT NULL,
      body TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('waiting', 'retrying', 'succeeded', 'failed')),
      is_next INTEGER NOT NULL CHECK (is_next IN (0, 1)),
      due_at_ms INTEGER,
      attempts INTEGER NOT NULL,
      first_attempt_at_ms INTEGER,
      resent_from TEXT,
      created_at_ms INTEGER NOT NULL,
      CHECK ((state IN ('waiting', 'retrying')) = (due_at_ms IS NOT NULL)),
      CHECK (is_next = 0 OR due_at_ms IS NOT NULL)
    ) STRICT;
    CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, number, type);
    CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (webhook_id, state, number, type);
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at_ms, number) WHERE is_next = 1;
    CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook_id, sequence, number)
      WHERE due_at_ms IS NOT NULL;
    CREATE INDEX webhook_deliveries_by_creation ON webhook_deliveries (created_at_ms);

    CREATE TABLE webhook_attempts (
      delivery_number INTEGER NOT NULL REFERENCES webhook_deliveries (number) ON DELETE CASCADE,
      attempt INTEGER NOT NULL,
      attempted_at_ms INTEGER NOT NULL,
      duration_ms INTEGER NOT NULL,
      status_code INTEGER,
      error TEXT,
      response TEXT,
      PRIMARY KEY (delivery_number, attempt)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE webhook_delivery_totals (
      webhook_id TEXT NOT NULL,
      state TEXT NOT NULL,
      type TEXT NOT NULL,
      total INTEGER NOT NULL CHECK (total >= 0),
      PRIMARY KEY (webhook_id, state, type)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER webhook_deliveries_counted_in AFTER INSERT ON webhook_deliveries BEGIN
      INSERT INTO webhook_delivery_totals (webhook_id, state, type, total)
        VALUES (new.webhook_id, new.state, new.type, 1) ON CONFLICT DO UPDATE SET total = total + 1;
    END;
    CREATE TRIGGER webhook_deliveries_counted_over AFTER UPDATE OF state ON webhook_deliveries
      WHEN old.state <> new.state BEGIN
      UPDATE webhook_delivery_totals SET total = total - 1
        WHERE webhook_id = old.webhook_id AND state = old.state AND type = old.type;
      INSERT INTO webhook_delivery_totals (webhook_id, state, type, total)
        VALUES (new.webhook_id, new.state, new.type, 1) ON CONFLICT DO UPDATE SET total = total + 1;
    END;
    CREATE TRIGGER webhook_deliveries_counted_out AFTER DELETE ON webhook_deliveries BEGIN
      UPDATE webhook_delivery_totals SET total = total - 1
        WHERE webhook_id = old.webhook_id AND state = old.state AND type = old.type;
    END;

    -- What stands behind another one in its sequence has its turn when that one is over or gone.
    CREATE TRIGGER webhook_deliveries_turn_after_end AFTER UPDATE OF is_next ON webhook_deliveries
      WHEN old.is_next = 1 AND new.is_next = 0 BEGIN
      UPDATE webhook_deliveries SET is_next = 1 WHERE number = (
        SELECT number FROM webhook_deliveries
          WHERE webhook_id = old.webhook_id AND sequence = old.sequence AND due_at_ms IS NOT NULL
          ORDER BY number LIMIT 1);
    END;
    CREATE TRIGGER webhook_deliveries_turn_after_removal AFTER DELETE ON webhook_deliveries
      WHEN old.is_next = 1 BEGIN
      UPDATE webhook_deliveries SET is_next = 1 WHERE number = (
        SELECT number FROM webhook_deliveries
          WHERE webhook_id = old.webhook_id AND sequence = old.sequence AND due_at_ms IS NOT NULL
          ORDER BY number LIMIT 1);
    END;
  `,
};
