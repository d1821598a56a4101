import type { LiveStream } from '../api/api-types.ts';
import { call } from '../api/client.ts';
import { ConfirmDialog } from '../ui/dialog/confirm-dialog.tsx';

export function EndBroadcastDialog({
  stream: { liveStreamId, name },
  onEnded,
  onClose,
}: {
  stream: LiveStream;
  onEnded?: () => void;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title="End the broadcast?"
      action="End broadcast"
      work={async () => {
        await call('PUT /live-streams/{liveStreamId}/complete', { params: { liveStreamId } });
        onEnded?.();
      }}
      onClose={onClose}
    >
      <p>Viewers of “{name}” see that the stream has ended, and what was recorded becomes a video.</p>
      <p>
        Your encoder is disconnected, and can’t come back until it has stayed away for a minute or you allow
        it again. Another encoder can go live immediately with the same stream key.
      </p>
    </ConfirmDialog>
  );
}
