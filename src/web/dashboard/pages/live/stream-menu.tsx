import type { LiveStream } from '../../api/api-types.ts';
import { copyLink } from '../../broadcasts/copy-link.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/live.ts';
import { copyText } from '../../ui/copy.tsx';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { Menu } from '../../ui/menu.tsx';
import { showError } from '../../ui/toast.tsx';

/** Callers without the scope `live` get no stream key. */
export function StreamMenu({ stream }: { stream: LiveStream }) {
  const { liveStreamId, name, streamKey } = stream;
  const { route } = useLocation();
  return (
    <Menu
      label={t('streams.actionsFor', { name })}
      items={[
        { label: t('streams.copyLink'), icon: 'link', onClick: () => void copyLink(stream).catch(showError) },
        ...(streamKey === undefined
          ? []
          : [
              {
                label: t('streams.copyKey'),
                icon: 'key',
                onClick: () => void copyText(streamKey, t('streams.streamKey')),
              } as const,
            ]),
        ...(can('live')
          ? [
              {
                label: t('streams.fromBrowser'),
                icon: 'live',
                onClick: () => route(`/dashboard/live/${liveStreamId}/studio`),
              } as const,
            ]
          : []),
        {
          label: t('streams.recordings'),
          icon: 'video',
          onClick: () => route(`/dashboard/videos?source=${liveStreamId}`),
        },
        {
          label: t('streams.analytics'),
          icon: 'chart',
          onClick: () => route(`/dashboard/analytics?media=${liveStreamId}`),
        },
      ]}
    />
  );
}
