import { call } from '../../../api/client.ts';
import { t } from '../../../texts/videos.ts';
import { CheckField, SelectField, TextField } from '../../../ui/form/field.tsx';
import { FieldValues, useFieldError } from '../../../ui/form/form-context.tsx';
import { PlayerThemeField } from '../../../ui/form/player-theme-field.tsx';
import { SpokenLanguageField } from '../../../ui/form/spoken-language-field.tsx';
import { TagField } from '../../../ui/form/tag-field.tsx';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { useVideoDefaults } from '../../../ui/hooks/use-video-defaults.ts';
import { PlacementEditor } from '../../watermarks/placement-editor.tsx';
import { savedPlacement } from '../../watermarks/saved-placements.ts';
import { watermarkName } from '../../watermarks/watermark-name.ts';
import type { VideoOptionsDraft } from './use-video-options.ts';
import { clipProblem } from './video-options.ts';

/** Fields for everything that can be chosen when a video is created, apart from its title and source. */
export function VideoOptionsFields({
  draft: { options, change, typedTag, setTypedTag, alterTags },
}: {
  draft: VideoOptionsDraft;
}) {
  return (
    <FieldValues values={options} onValues={(_, changes) => change(changes)}>
      <CheckField
        label={t('newVideo.private')}
        hint={t('newVideo.privateHint')}
        checked={!options.isPublic}
        onValue={isPrivate => change({ isPublic: !isPrivate })}
      />
      <CheckField field="mp4Support" label={t('newVideo.mp4')} hint={t('newVideo.mp4Hint')} />
      <TagField
        label={t('newVideo.tags')}
        tags={options.tags}
        typed={typedTag}
        onTyped={setTypedTag}
        onChange={alterTags}
      />
      <div class="form-grid two">
        <SpokenLanguageField />
        <PlayerThemeField />
      </div>
      <TextFields options={options} change={change} />
      <div class="form-grid two">
        <TextField
          field="clipStart"
          label={t('newVideo.clipStart')}
          placeholder="0:00"
          hint={t('newVideo.clipHint')}
        />
        <TextField
          field="clip"
          label={t('newVideo.clipEnd')}
          placeholder={t('newVideo.endOfFile')}
          value={options.clipEnd}
          onValue={clipEnd => change({ clipEnd })}
          error={clipProblem(options)}
        />
      </div>
      <WatermarkField
        value={options.watermarkId}
        onValue={watermarkId => change({ watermarkId, placement: savedPlacement(watermarkId) })}
      />
      {options.watermarkId !== '' && (
        <PlacementEditor
          key={options.watermarkId}
          watermarkId={options.watermarkId}
          draft={options.placement}
          onDraft={placement => change({ placement })}
        />
      )}
    </FieldValues>
  );
}

/** Hidden on servers that generate no captions. */
function TextFields({ options, change }: Pick<VideoOptionsDraft, 'options' | 'change'>) {
  const { value: defaults } = useVideoDefaults();
  if (defaults?.available.transcript !== true) return null;
  const transcript = options.transcript ?? defaults.transcript;
  const transcriptSummary =
    options.transcriptSummary ?? (defaults.transcriptSummary && options.transcript !== false);
  return (
    <>
      <CheckField
        label={t('newVideo.captions')}
        hint={t('newVideo.captionsHint')}
        checked={transcript}
        onValue={isChosen => change({ transcript: isChosen })}
      />
      {defaults.available.transcriptSummary && (
        <CheckField
          label={t('newVideo.summary')}
          hint={t('newVideo.summaryHint')}
          checked={transcriptSummary}
          onValue={isChosen => change({ transcriptSummary: isChosen })}
        />
      )}
    </>
  );
}

function WatermarkField({ value, onValue }: { value: string; onValue: (watermarkId: string) => void }) {
  const idError = useFieldError('watermark.id');
  const watermarks = useLoad('watermarks', signal =>
    call('GET /watermarks', {
      query: { sortBy: 'createdAt', sortOrder: 'desc', pageSize: 100 },
      signal,
    }),
  );
  const listed = watermarks.value?.data ?? [];
  const hint =
    watermarks.problem !== undefined
      ? t('newVideo.watermarksFailed')
      : watermarks.value !== undefined && listed.length === 0
        ? t('newVideo.noWatermarks')
        : t('newVideo.watermarkHint');
  return (
    <SelectField
      label={t('newVideo.watermark')}
      value={value}
      onValue={onValue}
      field="watermark"
      error={idError}
      hint={hint}
      options={[
        ['', t('newVideo.none')],
        ...listed.map(watermark => [watermark.watermarkId, watermarkName(watermark)] as const),
      ]}
    />
  );
}
