import { useEffect, useRef, useState } from 'preact/hooks';
import { withBasePath } from '../../../shared/base-path.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import { t } from '../../texts/players.ts';
import { SelectField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Card } from '../../ui/page.tsx';
import { PlayerIframe } from '../../ui/player-iframe.tsx';

const maxOffered = 50;

/** Views in the preview are not counted. */
export function ThemePreview({ theme }: { theme: object }) {
  const sample = { id: 'sample', title: t('preview.sample'), address: withBasePath('/vod/sample') };
  const frame = useRef<HTMLIFrameElement | null>(null);
  const [chosen, setChosen] = useState<string>();
  const videos = useLoad('videos', async signal => {
    const { data } = await call('GET /videos', {
      query: { status: 'ready', sortBy: 'publishedAt', sortOrder: 'desc', pageSize: maxOffered },
      signal,
    });
    return data.flatMap(({ videoId, title, assets }) =>
      assets === null ? [] : [{ id: videoId, title: title || videoId, address: localUrl(assets.player) }],
    );
  });
  const isKnown = videos.value !== undefined || videos.problem !== undefined;
  const offered = [...(videos.value ?? []), sample];
  const shown = offered.find(({ id }) => id === chosen) ?? offered[0] ?? sample;
  const text = JSON.stringify(theme);
  const show = () =>
    frame.current?.contentWindow?.postMessage({ previewedTheme: JSON.parse(text) }, location.origin);
  useEffect(show, [text]);
  return (
    <div class="theme-preview">
      <Card title={t('preview.title')} flush>
        <div class="preview-frame">
          {isKnown && (
            <PlayerIframe
              key={shown.address}
              onFrame={element => {
                frame.current = element;
              }}
              title={t('preview.frame')}
              src={`${shown.address}#analytics:false;muted`}
              allow="autoplay; fullscreen; picture-in-picture"
              onLoad={show}
            />
          )}
        </div>
        <div class="preview-foot">
          <SelectField
            label={t('preview.with')}
            value={shown.id}
            onValue={setChosen}
            options={offered.map(({ id, title }) => [id, title] as const)}
            hint={t('preview.hint')}
          />
        </div>
      </Card>
    </div>
  );
}
