import { useSubmission } from '../../../ui/form/form-context.tsx';
import type { VideoOptionsDraft } from './use-video-options.ts';
import { VideoOptionsFields } from './video-options-fields.tsx';

const attributes = ['tags', 'language', 'playerId', 'clip', 'watermark', 'watermark.id'];

export function MoreOptions({ draft }: { draft: VideoOptionsDraft }) {
  const submission = useSubmission();
  const isWrong = attributes.some(attribute => submission?.errorOf(attribute) !== undefined);
  return (
    <details class="more-options" open={isWrong}>
      <summary>Options</summary>
      <div class="stack">
        <VideoOptionsFields draft={draft} />
      </div>
    </details>
  );
}
