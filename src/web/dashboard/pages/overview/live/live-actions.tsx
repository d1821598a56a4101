import { useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import { copyLink } from '../../../broadcasts/copy-link.ts';
import { EndBroadcastDialog } from '../../../broadcasts/end-broadcast-dialog.tsx';
import { can } from '../../../state/session.ts';
import { t } from '../../../texts/overview.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { useLocation } from '../../../ui/hooks/use-location.ts';
import type { IconName } from '../../../ui/icon.tsx';
import { showError } from '../../../ui/toast.tsx';
import { LiveClipDialog } from '../../clips/live-clip-dialog.tsx';

/** The actions on a live stream while it is live, by role. */
export function LiveActions({ stream, isCompact = false }: { stream: LiveStream; isCompact?: boolean }) {
  const { name } = stream;
  const { route } = useLocation();
  const [openDialog, setOpenDialog] = useState<'clip' | 'end'>();
  const Action = isCompact ? CompactAction : FullAction;
  return (
    <div class="actions live-actions">
      <Action
        icon="link"
        text={t('live.copyLink')}
        name={name}
        onClick={() => void copyLink(stream).catch(showError)}
      />
      {can('upload') && (
        <Action icon="clip" text={t('live.clip')} name={name} onClick={() => setOpenDialog('clip')} />
      )}
      {can('live') && (
        <Action icon="stop" text={t('live.end')} name={name} onClick={() => setOpenDialog('end')} />
      )}
      {openDialog === 'clip' && (
        <LiveClipDialog
          stream={stream}
          onCreated={videoId => route(`/dashboard/videos/${videoId}`)}
          onClose={() => setOpenDialog(undefined)}
        />
      )}
      {openDialog === 'end' && (
        <EndBroadcastDialog stream={stream} onClose={() => setOpenDialog(undefined)} />
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
  return <IconButton icon={icon} label={t('live.actionOf', { action: text, name })} onClick={onClick} />;
}
