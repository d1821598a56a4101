import type { LiveStream } from '../../api/api-types.ts';
import { can } from '../../state/session.ts';
import { copyText } from '../../ui/copy.tsx';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { Menu } from '../../ui/menu.tsx';

/** Callers without the scope `live` get no stream key. */
export function StreamMenu({ stream: { liveStreamId, name, assets, streamKey } }: { stream: LiveStream }) {
  const { route } = useLocation();
  return (
    <Menu
      label={`Actions for ${name}`}
      items={[
        { label: 'Copy link', icon: 'link', onClick: () => void copyText(assets.player, 'Link') },
        ...(streamKey === undefined
          ? []
          : [
              {
                label: 'Copy stream key',
                icon: 'key',
                onClick: () => void copyText(streamKey, 'Stream key'),
              } as const,
            ]),
        ...(can('live')
          ? [
              {
                label: 'Go live from the browser',
                icon: 'live',
                onClick: () => route(`/dashboard/live/${liveStreamId}/studio`),
              } as const,
            ]
          : []),
        {
          label: 'Recordings',
          icon: 'video',
          onClick: () => route(`/dashboard/videos?source=${liveStreamId}`),
        },
        {
          label: 'Analytics',
          icon: 'chart',
          onClick: () => route(`/dashboard/analytics?media=${liveStreamId}`),
        },
      ]}
    />
  );
}
