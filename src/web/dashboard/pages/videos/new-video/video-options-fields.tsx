import { call } from '../../../api/client.ts';
import { shortId } from '../../../format/short-id.ts';
import { CheckField, SelectField, TextField } from '../../../ui/form/field.tsx';
import { FieldValues, useFieldError } from '../../../ui/form/form-context.tsx';
import { PlayerThemeField } from '../../../ui/form/player-theme-field.tsx';
import { SpokenLanguageField } from '../../../ui/form/spoken-language-field.tsx';
import { TagField } from '../../../ui/form/tag-field.tsx';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { useVideoDefaults } from '../../../ui/hooks/use-video-defaults.ts';
import { PlacementEditor } from '../../watermarks/placement-editor.tsx';
import { savedPlacement } from '../../watermarks/saved-placements.ts';
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
        label="Private"
        hint="Plays only with a link that contains a private token."
        checked={!options.isPublic}
        onValue={isPrivate => change({ isPublic: !isPrivate })}
      />
      <CheckField
        field="mp4Support"
        label="Offer MP4 download"
        hint="Shows a download button in the player."
      />
      <TagField
        label="Tags"
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
          label="Clip start"
          placeholder="0:00"
          hint="Only this part of the file becomes the video."
        />
        <TextField
          field="clip"
          label="Clip end"
          placeholder="End of the file"
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
        label="Generate captions"
        hint="In the spoken language, from the audio."
        checked={transcript}
        onValue={isChosen => change({ transcript: isChosen })}
      />
      {defaults.available.transcriptSummary && (
        <CheckField
          label="Generate a summary"
          hint="From the captions, which are generated first."
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
      ? 'The watermarks could not be loaded.'
      : watermarks.value !== undefined && listed.length === 0
        ? 'Upload an image under Watermarks first.'
        : 'Becomes part of the video and can’t be removed later.';
  return (
    <SelectField
      label="Watermark"
      value={value}
      onValue={onValue}
      field="watermark"
      error={idError}
      hint={hint}
      options={[
        ['', 'None'],
        ...listed.map(({ watermarkId }) => [watermarkId, `…${shortId(watermarkId)}`] as const),
      ]}
    />
  );
}
