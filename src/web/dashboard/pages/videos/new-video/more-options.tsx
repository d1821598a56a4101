import type { Submission } from '../../../ui/form/use-submit.ts';
import type { VideoOptionsDraft } from './use-video-options.ts';
import { VideoOptionsFields } from './video-options-fields.tsx';

export function MoreOptions(props: { draft: VideoOptionsDraft; errorOf: Submission['errorOf'] }) {
  return (
    <details class="more-options">
      <summary>Options</summary>
      <div class="stack">
        <VideoOptionsFields {...props} />
      </div>
    </details>
  );
}
