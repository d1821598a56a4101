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
  const asked = useRef(search);
  const latest = useRef(onSearch);
  latest.current = onSearch;
  useEffect(() => {
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
