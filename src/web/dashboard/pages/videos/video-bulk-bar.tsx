import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectHeaders } from '../../state/session.ts';
import { t } from '../../texts/videos.ts';
import { BulkBar } from '../../ui/bulk/bulk-bar.tsx';
import { runBulk } from '../../ui/bulk/run-bulk.ts';
import { Button } from '../../ui/button.tsx';
import { useChannel } from '../../ui/hooks/use-channel.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import type { BulkAction } from './bulk-text.ts';
import { showBulkResult } from './discard-videos.ts';
import { EditVideosDialog } from './edit-videos-dialog.tsx';
import { maxMatching } from './matching-videos.ts';
import type { useBulkWork } from './use-bulk-work.ts';

export function VideoBulkBar({
  videos,
  total,
  bulk,
  canRetry,
  discardLabel,
  onAll,
  onRetry,
  onDiscard,
  onClear,
}: {
  videos: readonly Video[];
  total: number;
  bulk: ReturnType<typeof useBulkWork>;
  canRetry: boolean;
  discardLabel: string;
  onAll: () => void;
  onRetry: () => void;
  onDiscard: () => void;
  onClear: () => void;
}) {
  const [isEditing, setEditing] = useState(false);
  const { value: channel } = useChannel();
  const setVisibility = (body: { public: boolean; listed?: boolean }, did: BulkAction) => {
    const headers = projectHeaders();
    void bulk.run(t('videos.changingVisibility'), videos.length, async options => {
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
        count={videos.length}
        total={total}
        maxTotal={maxMatching}
        progress={bulk.progress}
        onAll={onAll}
        onClear={onClear}
      >
        <Menu
          label={t('videos.changeVisibility')}
          items={[
            ...(channel?.enabled === true
              ? [
                  {
                    label: t('videos.showInChannel'),
                    icon: 'eye' as const,
                    onClick: () => setVisibility({ public: true, listed: true }, 'listed'),
                  },
                ]
              : []),
            {
              label: t('videos.makePublic'),
              icon: 'eye',
              onClick: () => setVisibility({ public: true, listed: false }, 'public'),
            },
            {
              label: t('videos.makePrivate'),
              icon: 'lock',
              onClick: () => setVisibility({ public: false }, 'private'),
            },
          ]}
        >
          <Icon name="eye" size={16} />
          <span class="bulk-label">{t('videos.visibility')}</span>
        </Menu>
        <Button small icon="tag" onClick={() => setEditing(true)}>
          {t('videos.edit')}
        </Button>
        {canRetry && (
          <Button small icon="refresh" onClick={onRetry}>
            {t('videos.retry')}
          </Button>
        )}
        <Button small icon="trash" onClick={onDiscard}>
          {discardLabel}
        </Button>
      </BulkBar>
      {isEditing && <EditVideosDialog videos={videos} onClose={() => setEditing(false)} />}
    </>
  );
}
