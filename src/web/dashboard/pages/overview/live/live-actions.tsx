import { useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { can } from '../../../state/session.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { copyText } from '../../../ui/copy.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { useLocation } from '../../../ui/hooks/use-location.ts';
import type { IconName } from '../../../ui/icon.tsx';
import { showError } from '../../../ui/toast.tsx';
import { LiveClipDialog } from '../../clips/live-clip-dialog.tsx';

/** What a role can do with a live stream while it is live. */
export function LiveActions({ stream, isCompact = false }: { stream: LiveStream; isCompact?: boolean }) {
  const { liveStreamId, name } = stream;
  const { route } = useLocation();
  const [openDialog, setOpenDialog] = useState<'clip' | 'end'>();
  const Action = isCompact ? CompactAction : FullAction;
  return (
    <div class="actions live-actions">
      <Action icon="link" text="Copy link" name={name} onClick={() => void copyLink(stream)} />
      {can('upload') && <Action icon="clip" text="Clip" name={name} onClick={() => setOpenDialog('clip')} />}
      {can('live') && <Action icon="stop" text="End" name={name} onClick={() => setOpenDialog('end')} />}
      {openDialog === 'clip' && (
        <LiveClipDialog
          stream={stream}
          onCreated={videoId => route(`/dashboard/videos/${videoId}`)}
          onClose={() => setOpenDialog(undefined)}
        />
      )}
      {openDialog === 'end' && (
        <ConfirmDialog
          title="End the broadcast?"
          action="End broadcast"
          work={async () => {
            await call('PUT /live-streams/{liveStreamId}/complete', { params: { liveStreamId } });
          }}
          onClose={() => setOpenDialog(undefined)}
        >
          <p>
            Viewers of “{name}” see that the stream has ended, and what was recorded becomes a video. Your
            encoder is disconnected, and can’t come back until it has stayed away for a minute.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}

interface ActionProps {
  readonly icon: IconName;
  readonly text: string;
  readonly name: string;
  readonly onClick: () => void;
}

function FullAction({ icon, text, onClick }: ActionProps) {
  return (
    <Button icon={icon} onClick={onClick}>
      {text}
    </Button>
  );
}

function CompactAction({ icon, text, name, onClick }: ActionProps) {
  return <IconButton icon={icon} label={`${text}: ${name}`} onClick={onClick} />;
}

/** A link of a private live stream works for the first who opens it, so each copy is another one. */
async function copyLink(stream: LiveStream): Promise<void> {
  try {
    const { liveStreamId } = stream;
    const { assets } = stream.public
      ? stream
      : await call('GET /live-streams/{liveStreamId}', { params: { liveStreamId } });
    await copyText(assets.player, stream.public ? 'Link' : 'Link for one viewer');
  } catch (error) {
    showError(error);
  }
}
