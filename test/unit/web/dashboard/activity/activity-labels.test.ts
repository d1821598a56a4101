import { expect, test } from 'vitest';
import { targetLabel } from '../../../../../src/web/dashboard/pages/activity/activity-labels.ts';

test.each([
  ['hook', 'publish', 'Hook publish'],
  ['setting', 'live.reconnectGrace', 'Setting live.reconnectGrace'],
  ['caption', 'pt-BR', 'Caption pt-BR'],
  ['webhook', 'webhook_9Pf3kRt7Zv1Ym5Hc8Qj2Ns', 'Webhook 8Qj2Ns'],
])('a %s named %s is shown as %s', (kind, id, label) => {
  expect(targetLabel({ kind, id })).toBe(label);
});
