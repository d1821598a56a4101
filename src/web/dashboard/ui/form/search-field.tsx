import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from './field.tsx';

const pauseMs = 250;

/** What a list is searched for. Asks when typing pauses, not for each letter. @param label says what is searched */
export function SearchField({
  label,
  search,
  onSearch,
}: {
  label: string;
  search: string;
  onSearch: (search: string) => void;
}) {
  const [text, setText] = useState(search);
  const asked = useRef(search);
  const latest = useRef(onSearch);
  latest.current = onSearch;
  useEffect(() => {
    // The address changed by other means: the way back, or a filter that was taken away.
    if (search !== asked.current) setText(search);
    asked.current = search;
  }, [search]);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = wanted;
      latest.current(wanted);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextField label={label} hideLabel type="search" placeholder={label} value={text} onValue={setText} />
  );
}
