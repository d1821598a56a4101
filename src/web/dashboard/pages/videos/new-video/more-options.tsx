import type { Submission } from '../../../ui/form/use-submit.ts';
import type { VideoOptionsDraft } from './use-video-options.ts';
import { VideoOptionsFields } from './video-options-fields.tsx';

const attributes = ['tags', 'language', 'playerId', 'clip', 'watermark', 'watermark.id'];

export function MoreOptions(props: { draft: VideoOptionsDraft; errorOf: Submission['errorOf'] }) {
  const isWrong = attributes.some(attribute => props.errorOf(attribute) !== undefined);
  return (
    <details class="more-options" open={isWrong}>
      <summary>Options</summary>
      <div class="stack">
        <VideoOptionsFields {...props} />
      </div>
    </details>
  );
}
