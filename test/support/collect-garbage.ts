import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Only contexts made after this flag was set have V8's `gc`.
setFlagsFromString('--expose-gc');
export const collectGarbage = runInNewContext('gc') as () => void;
