import { useState } from 'preact/hooks';
import { type EmbeddedPlayer, type EmbedKind, embedCode, fixedSize } from '../../format/embed-code.ts';
import { CopyField } from '../copy.tsx';
import { SelectField } from './field.tsx';

export function EmbedField({ player }: { player: EmbeddedPlayer }) {
  const [kind, setKind] = useState<EmbedKind>('responsive');
  const { width, height } = fixedSize(player);
  return (
    <>
      <SelectField
        label="Player size on your page"
        value={kind}
        onValue={setKind}
        options={[
          ['responsive', 'Responsive: full width'],
          ['fixed', `Fixed: ${width} × ${height} pixels`],
        ]}
      />
      <CopyField
        label="Embed code"
        value={embedCode(player, kind)}
        hint="Paste it into the HTML of a page. The player keeps its aspect ratio there."
      />
    </>
  );
}
