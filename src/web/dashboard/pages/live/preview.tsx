import { useMemo } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { localUrl } from '../../format/local-url.ts';

/** What viewers see, without sound. It waits by itself until the stream is on air. */
export function Preview({ stream }: { stream: LiveStream }) {
  const { liveStreamId, name, playerId, assets } = stream;
  // Each answer has a new address of a private stream: the player keeps the first, or it would begin anew.
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
