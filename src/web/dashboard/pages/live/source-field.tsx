import type { ComponentProps } from 'preact';
import { TextField } from '../../ui/form/field.tsx';

type FieldProps = ComponentProps<typeof TextField>;

/** The address that a live stream is pulled from. */
export function SourceField(props: Pick<FieldProps, 'label' | 'value' | 'onValue' | 'hint' | 'required'>) {
  return (
    <TextField
      {...props}
      field="source[url]"
      placeholder="rtsp://user:password@camera/stream1"
      spellcheck={false}
      maxLength={2048}
    />
  );
}
