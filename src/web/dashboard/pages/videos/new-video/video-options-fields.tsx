import { call } from '../../../api/client.ts';
import { shortId } from '../../../format/short-id.ts';
import { CheckField, SelectField, TextField } from '../../../ui/form/field.tsx';
import { PlayerThemeField } from '../../../ui/form/player-theme-field.tsx';
import { TagField } from '../../../ui/form/tag-field.tsx';
import type { Submission } from '../../../ui/form/use-submit.ts';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { useVideoDefaults } from '../../../ui/hooks/use-video-defaults.ts';
import { spokenLanguages } from '../../video/tracks/languages.ts';
import { PlacementEditor } from '../../watermarks/placement-editor.tsx';
import type { VideoOptionsDraft } from './use-video-options.ts';
import { clipProblem } from './video-options.ts';

/** Fields for everything that can be chosen when a video is created, apart from its title and source. */
export function VideoOptionsFields({
  draft: { options, change, typedTag, setTypedTag, alterTags },
  errorOf,
}: {
  draft: VideoOptionsDraft;
  errorOf: Submission['errorOf'];
}) {
  return (
    <>
      <CheckField
        label="Private"
        hint="Plays only with a link that contains a private token."
        checked={!options.isPublic}
        onValue={isPrivate => change({ isPublic: !isPrivate })}
      />
      <CheckField
        label="Offer MP4 download"
        hint="Shows a download button in the player."
        checked={options.mp4Support}
        onValue={mp4Support => change({ mp4Support })}
      />
      <TagField
        label="Tags"
        tags={options.tags}
        typed={typedTag}
        error={errorOf('tags')}
        onTyped={setTypedTag}
        onChange={alterTags}
      />
      <div class="form-grid two">
        <SelectField
          label="Spoken language"
          value={options.language}
          options={[['', 'Not set'], ...spokenLanguages()]}
          onValue={language => change({ language })}
          error={errorOf('language')}
        />
        <PlayerThemeField
          value={options.playerId}
          onValue={playerId => change({ playerId })}
          error={errorOf('playerId')}
        />
      </div>
      <TextFields options={options} change={change} />
      <div class="form-grid two">
        <TextField
          label="Clip start"
          placeholder="0:00"
          hint="Only this part of the file becomes the video."
          value={options.clipStart}
          onValue={clipStart => change({ clipStart })}
        />
        <TextField
          label="Clip end"
          placeholder="End of the file"
          value={options.clipEnd}
          onValue={clipEnd => change({ clipEnd })}
          error={clipProblem(options) ?? errorOf('clip')}
        />
      </div>
      <WatermarkField
        value={options.watermarkId}
        onValue={watermarkId => change({ watermarkId })}
        error={errorOf('watermark.id') ?? errorOf('watermark')}
      />
      {options.watermarkId !== '' && (
        <PlacementEditor
          key={options.watermarkId}
          watermarkId={options.watermarkId}
          draft={options.placement}
          onDraft={placement => change({ placement })}
        />
      )}
    </>
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

function WatermarkField({
  value,
  onValue,
  error,
}: {
  value: string;
  onValue: (watermarkId: string) => void;
  error: string | undefined;
}) {
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
      error={error}
      hint={hint}
      options={[
        ['', 'None'],
        ...listed.map(({ watermarkId }) => [watermarkId, `…${shortId(watermarkId)}`] as const),
      ]}
    />
  );
}
