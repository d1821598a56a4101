import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectHeaders } from '../../state/session.ts';
import { BulkBar } from '../../ui/bulk/bulk-bar.tsx';
import { runBulk } from '../../ui/bulk/run-bulk.ts';
import { Button } from '../../ui/button.tsx';
import { useChannel } from '../../ui/hooks/use-channel.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { showBulkResult } from './discard-videos.ts';
import { EditVideosDialog } from './edit-videos-dialog.tsx';
import { maxMatching } from './matching-videos.ts';
import type { useBulkWork } from './use-bulk-work.ts';

export function VideoBulkBar({
  videos,
  total,
  bulk,
  canRetry,
  onAll,
  onRetry,
  onDelete,
  onClear,
}: {
  videos: readonly Video[];
  total: number;
  bulk: ReturnType<typeof useBulkWork>;
  canRetry: boolean;
  onAll: () => void;
  onRetry: () => void;
  onDelete: () => void;
  onClear: () => void;
}) {
  const [isEditing, setEditing] = useState(false);
  const { value: channel } = useChannel();
  const setVisibility = (body: { public: boolean; listed?: boolean }, did: string) => {
    const headers = projectHeaders();
    void bulk.run('Changing visibility', videos.length, async options => {
      const result = await runBulk(
        videos,
        ({ videoId }) => call('PATCH /videos/{videoId}', { params: { videoId }, body, headers }),
        options,
      );
      showBulkResult(result, did);
    });
  };
  return (
    <>
      <BulkBar
        what="video"
        count={videos.length}
        total={total}
        maxTotal={maxMatching}
        progress={bulk.progress}
        onAll={onAll}
        onClear={onClear}
      >
        <Menu
          label="Change visibility"
          items={[
            ...(channel?.enabled === true
              ? [
                  {
                    label: 'Show in the channel',
                    icon: 'eye' as const,
                    onClick: () => setVisibility({ public: true, listed: true }, 'added to the channel'),
                  },
                ]
              : []),
            {
              label: 'Make public',
              icon: 'eye',
              onClick: () => setVisibility({ public: true, listed: false }, 'made public'),
            },
            {
              label: 'Make private',
              icon: 'lock',
              onClick: () => setVisibility({ public: false }, 'made private'),
            },
          ]}
        >
          <Icon name="eye" size={16} />
          <span class="bulk-label">Visibility</span>
        </Menu>
        <Button small icon="tag" onClick={() => setEditing(true)}>
          Edit
        </Button>
        {canRetry && (
          <Button small icon="refresh" onClick={onRetry}>
            Retry
          </Button>
        )}
        <Button small icon="trash" onClick={onDelete}>
          Delete
        </Button>
      </BulkBar>
      {isEditing && <EditVideosDialog videos={videos} onClose={() => setEditing(false)} />}
    </>
  );
}
