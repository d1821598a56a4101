import { useState } from 'preact/hooks';
import { shortId } from '../../format/short-id.ts';
import { IconButton } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';

/** Hides all but the end of a token. It can be copied without being shown. */
export function TokenCell({ token }: { token: string }) {
  const [isShown, setShown] = useState(false);
  const ending = shortId(token);
  return (
    <span class="token-cell">
      <code>
        {isShown ? (
          token
        ) : (
          <>
            <span class="for-readers">Ends in </span>
            <span aria-hidden="true">••••••</span>
            {ending}
          </>
        )}
      </code>
      <IconButton
        icon={isShown ? 'eye-off' : 'eye'}
        label={`${isShown ? 'Hide' : 'Show'} token ${ending}`}
        onClick={() => setShown(!isShown)}
      />
      <IconButton icon="copy" label={`Copy token ${ending}`} onClick={() => void copyText(token, 'Token')} />
    </span>
  );
}
