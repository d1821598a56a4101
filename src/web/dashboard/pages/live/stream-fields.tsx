import type { LiveStream } from '../../api/api-types.ts';
import { CheckField, SelectField, TextField } from '../../ui/form/field.tsx';
import { FieldValues } from '../../ui/form/form-context.tsx';
import { PlayerThemeField } from '../../ui/form/player-theme-field.tsx';
import {
  OwnPolicyFields,
  type PolicyChoices,
  policyChoicesOf,
  policyOf,
} from '../../ui/form/policy-fields.tsx';
import { VisibilityField } from '../../ui/form/visibility-field.tsx';

interface StreamChoices {
  readonly name: string;
  readonly public: boolean;
  /** True when it is in the channel of the project. */
  readonly listed: boolean;
  readonly playerId: string;
  /** Empty for the server default. */
  readonly qualities: '' | 'passthrough' | 'ladder';
  readonly record: '' | 'always' | 'never';
  /** Empty for those of the project. */
  readonly keepRecordingsDays: string;
  readonly ultraLowLatency: boolean;
  readonly viewerClips: boolean;
  readonly showViewers: boolean;
  /** Undefined for that of the project. */
  readonly policy: PolicyChoices | undefined;
}

export const newStream: StreamChoices = {
  name: '',
  public: true,
  listed: false,
  playerId: '',
  qualities: '',
  record: '',
  keepRecordingsDays: '',
  ultraLowLatency: false,
  viewerClips: false,
  showViewers: false,
  policy: undefined,
};

export function choicesOf(stream: LiveStream): StreamChoices {
  const { name, playerId = '', qualities = '', ultraLowLatency = false, viewerClips = false } = stream;
  const record = stream.record === undefined ? '' : stream.record ? 'always' : 'never';
  const keepRecordingsDays = stream.keepRecordingsDays?.toString() ?? '';
  const policy = stream.playbackPolicy && policyChoicesOf(stream.playbackPolicy);
  return {
    name,
    public: stream.public,
    listed: stream.listed === true,
    playerId,
    qualities,
    record,
    keepRecordingsDays,
    ultraLowLatency,
    viewerClips,
    showViewers: stream.showViewers === true,
    policy,
  };
}

export function bodyOf({
  name,
  playerId,
  qualities,
  record,
  keepRecordingsDays,
  policy,
  ...rest
}: StreamChoices) {
  return {
    ...rest,
    playbackPolicy: policy === undefined ? null : policyOf(policy),
    name: name.trim(),
    playerId: playerId === '' ? null : playerId,
    qualities: qualities === '' ? null : qualities,
    record: record === '' ? null : record === 'always',
    keepRecordingsDays: keepRecordingsDays === '' ? null : Number(keepRecordingsDays),
  };
}

interface FieldsProps {
  readonly choices: StreamChoices;
  readonly onChoices: (choices: StreamChoices) => void;
}

export function StreamFields(props: FieldsProps) {
  return (
    <>
      <MainStreamFields {...props} />
      <MoreStreamFields {...props} />
    </>
  );
}

/** Fields that a live stream needs. */
export function MainStreamFields({ choices, onChoices }: FieldsProps) {
  return (
    <FieldValues values={choices} onValues={onChoices}>
      <TextField label="Name" field="name" maxLength={1024} required />
      <VisibilityField value={choices} onValue={visibility => onChoices({ ...choices, ...visibility })} />
    </FieldValues>
  );
}

export function MoreStreamFields({ choices, onChoices }: FieldsProps) {
  return (
    <FieldValues values={choices} onValues={onChoices}>
      <SelectField
        label="Qualities"
        field="qualities"
        hint="Lower qualities help viewers on slow networks, and need CPU time on the server."
        options={[
          ['', 'Server default'],
          ['passthrough', 'Source only'],
          ['ladder', 'Multiple qualities'],
        ]}
      />
      <SelectField
        label="Recording"
        field="record"
        hint={
          choices.record === 'never'
            ? 'Viewers can rewind during a broadcast. The server keeps nothing afterwards.'
            : 'A recorded broadcast becomes a video.'
        }
        options={[
          ['', 'Server default'],
          ['always', 'Always record'],
          ['never', 'Never record'],
        ]}
      />
      {choices.record !== 'never' && (
        <TextField
          label="Keep recordings for (days)"
          type="number"
          min={1}
          max={36_500}
          placeholder="Project default"
          field="keepRecordingsDays"
        />
      )}
      <CheckField
        field="ultraLowLatency"
        label="Ultra low latency"
        hint="The player offers WebRTC, with a delay below a second. The encoder must send H.264 without B-frames, and Opus. Applies from the next broadcast. Not in the sandbox."
      />
      <CheckField
        field="showViewers"
        label="Show the number of viewers"
        hint="In the player, on the watch page and in the channel."
      />
      <CheckField
        field="viewerClips"
        label="Clips by viewers"
        hint="Viewers can turn the last seconds of a broadcast into a video of this project, with the tag viewer-clip."
      />
      <PlayerThemeField />
      <OwnPolicyFields own={choices.policy} onOwn={policy => onChoices({ ...choices, policy })} />
    </FieldValues>
  );
}
