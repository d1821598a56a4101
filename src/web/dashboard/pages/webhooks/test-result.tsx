import type { WebhookDeliveryDetails } from '../../api/api-types.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { formatAnswer, formatDuration } from './delivery-labels.ts';

export function TestResult({
  delivery: { status, attempts },
  onDetails,
}: {
  delivery: WebhookDeliveryDetails;
  onDetails: () => void;
}) {
  const attempt = attempts.at(-1);
  const isDelivered = status === 'succeeded';
  return (
    <Notice
      tone={isDelivered ? 'good' : 'bad'}
      title={isDelivered ? 'Test event delivered' : 'Test event failed'}
      action={
        <Button small onClick={onDetails}>
          Details
        </Button>
      }
    >
      {attempt !== undefined && (
        <p>
          {formatAnswer(attempt).replace(/\.?$/, '.')} It took {formatDuration(attempt.durationMs)}.
        </p>
      )}
    </Notice>
  );
}
