import { useState } from 'preact/hooks';
import { serverUrl } from '../../../shared/base-path.ts';
import type { Watermark } from '../../api/api-types.ts';
import { rich, t } from '../../texts/players.ts';
import { CodeSample } from '../../ui/code-sample.tsx';
import { Section } from '../../ui/page.tsx';
import { isComplete, type PlacementDraft, placementOf } from './placement-draft.ts';
import { PlacementEditor } from './placement-editor.tsx';
import { placementJson, placementRequest } from './placement-samples.ts';
import { savedPlacement, savePlacement } from './saved-placements.ts';
import { watermarkName } from './watermark-name.ts';

export function PlacementCard({ watermark }: { watermark: Watermark }) {
  const { watermarkId } = watermark;
  const [draft, setDraft] = useState(() => savedPlacement(watermarkId));
  const change = (next: PlacementDraft) => {
    setDraft(next);
    savePlacement(watermarkId, next);
  };
  const placement = placementOf(draft);
  return (
    <Section title={t('watermarks.placementOf', { name: watermarkName(watermark) })}>
      <PlacementEditor watermarkId={watermarkId} draft={draft} onDraft={change} />
      {isComplete(draft) && (
        <>
          <p>{rich('placement.savedText', {}, { a: text => <a href="/dashboard/videos">{text}</a> })}</p>
          <div class="columns">
            <CodeSample label={t('placement.json')} text={placementJson(watermarkId, placement)} />
            <CodeSample
              label={t('placement.request')}
              text={placementRequest(serverUrl, watermarkId, placement)}
            />
          </div>
        </>
      )}
    </Section>
  );
}
