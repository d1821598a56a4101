import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from './field.tsx';

const pauseMs = 250;

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
  const requested = useRef(search);
  const latest = useRef(onSearch);
  latest.current = onSearch;
  useEffect(() => {
    if (search !== requested.current) setText(search);
    requested.current = search;
  }, [search]);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === requested.current) return;
    const timer = setTimeout(() => {
      requested.current = wanted;
      latest.current(wanted);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextField label={label} hideLabel type="search" placeholder={label} value={text} onValue={setText} />
  );
}
