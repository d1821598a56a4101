import { useMemo } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { localUrl } from '../../format/local-url.ts';

export function Preview({ stream }: { stream: LiveStream }) {
  const { liveStreamId, name, playerId, assets } = stream;
  // Each answer about a private stream has a new URL. Keeping the first keeps the player running.
  const address = useMemo(
    () => `${localUrl(assets.player)}#autoplay;muted;analytics:false`,
    [liveStreamId, stream.public, playerId],
  );
  return (
    <div class="preview">
      <iframe key={address} title={`Preview of ${name}`} src={address} allow="autoplay; fullscreen" />
    </div>
  );
}
