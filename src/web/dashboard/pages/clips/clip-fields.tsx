import type { ComponentChildren } from 'preact';
import { maxTitleChars } from '../../../../shared/limits/resource-limits.ts';
import { CheckField, TextField } from '../../ui/form/field.tsx';
import { FieldValues } from '../../ui/form/form-context.tsx';
import { SegmentedControl } from '../../ui/form/segmented-control.tsx';

export interface ClipOptions {
  readonly title: string;
  readonly precision: 'keyframe' | 'frame';
  readonly isPublic: boolean;
}

const precisionHints = {
  frame: 'The clip starts and ends exactly at the chosen times. It usually takes a few seconds to make.',
  keyframe: 'The clip is made at once, but may start a few seconds before the chosen time.',
} as const;

export function ClipFields({
  options,
  onOptions,
  children,
}: {
  options: ClipOptions;
  onOptions: (options: ClipOptions) => void;
  children?: ComponentChildren;
}) {
  const { precision } = options;
  return (
    <FieldValues values={options} onValues={onOptions}>
      <TextField label="Title" field="title" maxLength={maxTitleChars} required />
      {children}
      <div class="field">
        <SegmentedControl
          label="Precision"
          value={precision}
          options={[
            ['frame', 'Exact'],
            ['keyframe', 'Fast'],
          ]}
          onValue={value => onOptions({ ...options, precision: value })}
        />
        <p class="hint">{precisionHints[precision]}</p>
      </div>
      <CheckField field="isPublic" label="Public" hint="Anyone who has the link can watch." />
    </FieldValues>
  );
}
