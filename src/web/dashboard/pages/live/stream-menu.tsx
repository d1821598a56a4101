import type { LiveStream } from '../../api/api-types.ts';
import { copyLink } from '../../broadcasts/copy-link.ts';
import { can } from '../../state/session.ts';
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
      label={`Actions for ${name}`}
      items={[
        { label: 'Copy link', icon: 'link', onClick: () => void copyLink(stream).catch(showError) },
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
