/** A call of the API as examples make it. */
interface ApiCall {
  readonly method: string;
  /** Variables are written `{VIDEO_ID}`. */
  readonly url: string;
  readonly hasKey: boolean;
  readonly json?: unknown;
  /** Name of a file that the call sends. */
  readonly file?: string | undefined;
}

type WriteExample = (call: ApiCall) => string;

/** Examples of a call by the language of their code. */
export function callExamples(call: ApiCall): ReadonlyMap<string, string> {
  return new Map(Object.entries(writers).map(([language, write]) => [language, write(call)]));
}

/** Examples read the environment, this server does not. */
const nodeEnv = ['process', 'env'].join('.');
const variable = /\{([A-Z_]+)\}/g;

function variablesOf({ url }: ApiCall): string[] {
  return [...new Set([...url.matchAll(variable)].map(([, name]) => name!))];
}

/** `VIDEO_ID` becomes `videoId`. */
function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function joined(lines: readonly (string | false)[]): string {
  return lines.filter(line => line !== false).join('\n');
}

const javascript: WriteExample = call => {
  const { method, url, hasKey, json, file } = call;
  const variables = variablesOf(call);
  const address = url.replace(variable, (_, name: string) => `\${${camelCase(name)}}`);
  const headers = [
    ...(hasKey ? [`authorization: 'Basic ' + btoa(${nodeEnv}.KEY + ':')`] : []),
    ...(json === undefined ? [] : ["'content-type': 'application/json'"]),
  ];
  const options = [
    method !== 'GET' && `  method: '${method}',`,
    headers.length > 0 && `  headers: { ${headers.join(', ')} },`,
    json !== undefined && `  body: JSON.stringify(${literal(json, 'javascript', '  ')}),`,
    file !== undefined && '  body,',
  ];
  const given = joined(options);
  return joined([
    file !== undefined && "import { openAsBlob } from 'node:fs';\n",
    ...variables.map(name => `const ${camelCase(name)} = ${nodeEnv}.${name};`),
    file !== undefined &&
      `const body = new FormData();\nbody.set('file', await openAsBlob('${file}'), '${file}');`,
    `const response = await fetch(${variables.length === 0 ? `'${address}'` : `\`${address}\``}${given === '' ? '' : `, {\n${given}\n}`});`,
    'console.log(response.status, await response.text());',
  ]);
};

const python: WriteExample = call => {
  const { method, url, hasKey, json, file } = call;
  const variables = variablesOf(call);
  const address = url.replace(variable, (_, name: string) => `{${name.toLowerCase()}}`);
  return joined([
    (hasKey || variables.length > 0) && 'import os\n',
    'import requests\n',
    ...variables.map(name => `${name.toLowerCase()} = os.environ["${name}"]`),
    `response = requests.${method.toLowerCase()}(`,
    `    ${variables.length === 0 ? '' : 'f'}"${address}",`,
    hasKey && '    auth=(os.environ["KEY"], ""),',
    json !== undefined && `    json=${literal(json, 'python', '    ')},`,
    file !== undefined && `    files={"file": open("${file}", "rb")},`,
    ')\nprint(response.status_code, response.text)',
  ]);
};

const php: WriteExample = call => {
  const { method, url, hasKey, json, file } = call;
  const variables = variablesOf(call);
  const address = url.replace(variable, (_, name: string) => `{$${camelCase(name)}}`);
  const options = [
    method !== 'GET' && `    CURLOPT_CUSTOMREQUEST => '${method}',`,
    hasKey && "    CURLOPT_USERPWD => getenv('KEY') . ':',",
    json !== undefined && "    CURLOPT_HTTPHEADER => ['Content-Type: application/json'],",
    json !== undefined && `    CURLOPT_POSTFIELDS => json_encode(${literal(json, 'php', '    ')}),`,
    file !== undefined && `    CURLOPT_POSTFIELDS => ['file' => new CURLFile('${file}')],`,
  ];
  return joined([
    '<?php\n',
    ...variables.map(name => `$${camelCase(name)} = getenv('${name}');`),
    `$request = curl_init("${address}");`,
    `curl_setopt_array($request, [`,
    ...options,
    '    CURLOPT_RETURNTRANSFER => true,',
    ']);',
    '$answer = curl_exec($request);',
    'echo curl_getinfo($request, CURLINFO_HTTP_CODE), " $answer\\n";',
  ]);
};

const go: WriteExample = call => {
  const { method, url, hasKey, json, file } = call;
  const variables = variablesOf(call);
  const parts = url.split(/(\{[A-Z_]+\})/).filter(part => part !== '');
  const address = parts.map(part => (/^\{[A-Z]/.test(part) ? camelCase(part.slice(1, -1)) : `"${part}"`));
  const packages = [
    file !== undefined && 'bytes',
    'fmt',
    'io',
    'log',
    file !== undefined && 'mime/multipart',
    'net/http',
    (hasKey || variables.length > 0 || file !== undefined) && 'os',
    json !== undefined && 'strings',
  ].filter(name => name !== false);
  const body = json !== undefined || file !== undefined ? 'body' : 'nil';
  const check = '\tif err != nil {\n\t\tlog.Fatal(err)\n\t}';
  return joined([
    `package main\n\nimport (\n${packages.map(name => `\t"${name}"`).join('\n')}\n)\n\nfunc main() {`,
    ...variables.map(name => `\t${camelCase(name)} := os.Getenv("${name}")`),
    json !== undefined &&
      `\tbody := strings.NewReader(\`${JSON.stringify(json).replaceAll('`', String.raw`\u0060`)}\`)`,
    file !== undefined && `\tcontent, err := os.ReadFile("${file}")\n${check}\n\tbody := &bytes.Buffer{}`,
    file !== undefined &&
      `\tform := multipart.NewWriter(body)\n\tpart, err := form.CreateFormFile("file", "${file}")`,
    file !== undefined && `${check}\n\tpart.Write(content)\n\tform.Close()`,
    `\trequest, err := http.NewRequest("${method}", ${address.join('+')}, ${body})\n${check}`,
    hasKey && '\trequest.SetBasicAuth(os.Getenv("KEY"), "")',
    json !== undefined && '\trequest.Header.Set("Content-Type", "application/json")',
    file !== undefined && '\trequest.Header.Set("Content-Type", form.FormDataContentType())',
    `\tresponse, err := http.DefaultClient.Do(request)\n${check}\n\tdefer response.Body.Close()`,
    `\tanswer, err := io.ReadAll(response.Body)\n${check}\n\tfmt.Println(response.StatusCode, string(answer))\n}`,
  ]);
};

const curl: WriteExample = ({ method, url, hasKey, json, file }) => {
  const address = url.replace(variable, (_, name: string) => `$${name}`);
  const isPost = method === 'POST' && (json !== undefined || file !== undefined);
  return [
    [
      'curl',
      hasKey && '-u $KEY:',
      method !== 'GET' && !isPost && `-X ${method}`,
      address.includes('?') ? `"${address}"` : address,
    ]
      .filter(part => part !== false)
      .join(' '),
    ...(json === undefined
      ? []
      : [
          `-H 'Content-Type: application/json'`,
          `-d '${JSON.stringify(json).replaceAll("'", String.raw`'\''`)}'`,
        ]),
    ...(file === undefined ? [] : [`-F file=@${file}`]),
  ].join(' \\\n  ');
};

const writers: Readonly<Record<string, WriteExample>> = { sh: curl, js: javascript, python, php, go };

interface LiteralStyle {
  readonly object: readonly [open: string, close: string];
  readonly arrow: string;
  readonly constants: Readonly<Record<string, string>>;
  readonly text: (text: string) => string;
  readonly key: (name: string) => string;
}

const singleQuoted = (text: string) => `'${text.replace(/[\\']/g, String.raw`\$&`).replaceAll('\n', ' ')}'`;
const literalStyles = {
  javascript: {
    object: ['{', '}'],
    arrow: ': ',
    constants: {},
    text: singleQuoted,
    key: name => (/^[\w$]+$/.test(name) ? name : singleQuoted(name)),
  },
  python: {
    object: ['{', '}'],
    arrow: ': ',
    constants: { true: 'True', false: 'False', null: 'None' },
    text: text => JSON.stringify(text),
    key: name => JSON.stringify(name),
  },
  php: { object: ['[', ']'], arrow: ' => ', constants: {}, text: singleQuoted, key: singleQuoted },
} satisfies Record<string, LiteralStyle>;

/** Longer values take a line for each of their parts. */
const maxLineLength = 70;

/** Writes a JSON value as code. @param indent spaces of the line that it begins in */
function literal(value: unknown, language: keyof typeof literalStyles, indent: string): string {
  const style: LiteralStyle = literalStyles[language];
  if (typeof value === 'string') return style.text(value);
  if (typeof value !== 'object' || value === null) return style.constants[String(value)] ?? String(value);
  const inner = `${indent}${language === 'javascript' ? '  ' : '    '}`;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : style.object;
  const parts = Array.isArray(value)
    ? value.map(one => literal(one, language, inner))
    : Object.entries(value).map(
        ([name, one]) => `${style.key(name)}${style.arrow}${literal(one, language, inner)}`,
      );
  const space = language === 'javascript' && open === '{' && parts.length > 0 ? ' ' : '';
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  if (line.length <= maxLineLength && !line.includes('\n')) return line;
  return `${open}\n${parts.map(part => `${inner}${part},\n`).join('')}${indent}${close}`;
}
