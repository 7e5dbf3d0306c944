import { expect, test } from 'bun:test'
import { json, node, plan } from './plan.ts'
import type { Texts } from './plan.ts'

test.each<[string, string, Texts]>([
  [
    'the modules of vendor, without a download',
    'COPY . .\nRUN --mount=type=cache,target=/root/.cache/go-build',
    { 'go.mod': 'module x', 'main.go': '', 'vendor/modules.txt': '' },
  ],
  [
    'modules that are folders of the repository',
    'COPY . .\nRUN --mount=type=cache,target=/root/.cache/go-build --mount=type=cache,target=/go/pkg/mod go mod download',
    { 'go.mod': 'module x\n\nreplace y => ./y\n', 'main.go': '', 'y/go.mod': '' },
  ],
  [
    'gems that are folders of the repository',
    'COPY . .\nRUN bundle install',
    { Gemfile: `gem 'own', path: 'own'`, 'Gemfile.lock': '', 'config.ru': '' },
  ],
  [
    'packages of Python that are folders of the repository',
    'COPY . .\nRUN --mount=type=cache,target=/root/.cache python -m venv /opt/poetry',
    {
      'pyproject.toml': '[tool.poetry.dependencies]\nown = { path = "own" }\nflask = "3"\n',
      'poetry.lock': '',
      'main.py': '',
      Procfile: 'web: python main.py',
    },
  ],
  [
    'packages of Python that are archives of the repository',
    'COPY . .\nRUN --mount=type=cache,target=/root/.cache pip install -r',
    { 'requirements.txt': 'wheels/own-1.0-py3-none-any.whl\n', 'main.py': '' },
  ],
  [
    'packages of PHP that are folders of the repository',
    'COPY . .\nRUN --mount=type=cache,target=/root/.composer/cache composer install',
    {
      'composer.json': json({ repositories: [{ type: 'path', url: 'own' }] }).replaceAll(':', ': '),
      'index.php': '',
    },
  ],
  [
    'extensions of PHP from its registry',
    'docker-php-ext-install bz2\nRUN pecl install redis && docker-php-ext-enable redis\n',
    { 'composer.json': json({ require: { 'ext-redis': '*', 'ext-bz2': '*', 'ext-json': '*' } }) },
  ],
  [
    'the Rust of the image, and not a download of the one that a file names',
    'ENV RUSTUP_TOOLCHAIN=$RUST_VERSION\nCOPY . .',
    {
      'Cargo.toml': '[package]\nname = "x"',
      'src/main.rs': '',
      'rust-toolchain.toml': '[toolchain]\nchannel = "1.85"',
    },
  ],
  [
    'the newest of several targets of .NET',
    'FROM mcr.microsoft.com/dotnet/aspnet:9.0',
    {
      'a.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFrameworks>net8.0;net9.0</TargetFrameworks></Project>',
    },
  ],
  [
    'a file’s path as a path, though it is like an option',
    'dotnet publish "./-a.csproj"',
    { '-a.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>' },
  ],
  [
    'one word for a name with spaces',
    '["node","./-a b.js"]',
    node({ main: '-a b.js' }, { '-a b.js': '' }),
  ],
  [
    'a script that says exec itself',
    '["sh","-c","exec ./run $PORT"]',
    node({ scripts: {} }, { Procfile: 'web: exec ./run $PORT' }),
  ],
  [
    'MkDocs though its list is one of Python’s',
    'RUN mkdocs build',
    { 'mkdocs.yml': '', 'requirements.txt': 'mkdocs' },
  ],
])('a written Dockerfile has %s: %s', (_, part, texts) => {
  expect(plan(texts).dockerfile).toContain(part)
})

test.each<[string, string, string[]]>([
  ['server', '[[bin]]\nname = "server"\npath = "src/main.rs"', ['src/main.rs', 'src/bin/seed.rs']],
  ['server', '[[bin]]\nname = "server"\npath = "src/a.rs"', ['src/a.rs', 'src/bin/seed.rs']],
  ['server', '', ['src/lib.rs', 'src/bin/server.rs']],
  ['server', '', ['src/lib.rs', 'src/bin/server/main.rs', 'src/bin/server/more.rs']],
  ['my-api', '', ['src/main.rs', 'src/bin/seed.rs']],
  ['server', 'autobins = false\n[[bin]]\nname = "server"\npath = "src/a.rs"', ['src/main.rs']],
])(
  'of Rust the program %s is built where Cargo.toml has %j and there are %j',
  (name, text, paths) => {
    const texts: Texts = { 'Cargo.toml': `[package]\nname = "my-api"\n${text}` }
    for (const path of paths) texts[path] = ''
    expect(plan(texts).dockerfile).toContain(` --bin ${name} `)
  },
)
