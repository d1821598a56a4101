import { useState } from 'preact/hooks';
import { serverUrl } from '../../../shared/base-path.ts';
import { shortId } from '../../format/short-id.ts';
import { CodeSample } from '../../ui/code-sample.tsx';
import { Section } from '../../ui/page.tsx';
import { isComplete, type PlacementDraft, placementOf } from './placement-draft.ts';
import { PlacementEditor } from './placement-editor.tsx';
import { placementJson, placementRequest } from './placement-samples.ts';
import { savedPlacement, savePlacement } from './saved-placements.ts';

export function PlacementCard({ watermarkId }: { watermarkId: string }) {
  const [draft, setDraft] = useState(() => savedPlacement(watermarkId));
  const change = (next: PlacementDraft) => {
    setDraft(next);
    savePlacement(watermarkId, next);
  };
  const placement = placementOf(draft);
  return (
    <Section title={`Placement of …${shortId(watermarkId)}`}>
      <PlacementEditor watermarkId={watermarkId} draft={draft} onDraft={change} />
      {isComplete(draft) && (
        <>
          <p>
            This placement is saved in this browser. In a video, a watermark can’t be changed or removed
            later. Choose it under <a href="/dashboard/videos">Videos</a> › Upload videos › Options, or in the
            request that creates a video.
          </p>
          <div class="columns">
            <CodeSample label="Placement" text={placementJson(watermarkId, placement)} />
            <CodeSample
              label="Create a video with it"
              text={placementRequest(serverUrl, watermarkId, placement)}
            />
          </div>
        </>
      )}
    </Section>
  );
}
