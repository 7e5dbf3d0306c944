import type { Files, JsonObject } from './files.ts'
import { objectOf, stringOf } from './files.ts'
import { linksOfPackages } from './links.ts'
import { appFiles } from './manifests.ts'
import type { Found, Options, Rule } from './plan.ts'
import { installerOf, installerOfMember } from './python-install.ts'
import { collectStatic, frameworks, startOf } from './python-start.ts'
import { buildArguments, started, copy, dockerfile, installPackages, notUsed, run } from './text.ts'
import { chooseVersion } from './versions.ts'
import { normalName } from './workspace-kinds.ts'
import { inFolder, membershipIn } from './workspaces.ts'

/** Python apps, by what lists their packages. */
export const python: Rule = {
  looksFor: ['requirements.txt', 'pyproject.toml', 'Pipfile', 'main.py', 'app.py', 'manage.py'],
  plan(options) {
    const { files } = options
    // The list of a documentation's tools, which is a site.
    if (files.has('mkdocs.yml') && files.first('manage.py', ...appFiles) === undefined) return null
    const lists = ['requirements.txt', 'pyproject.toml', 'Pipfile', 'uv.lock', 'poetry.lock']
    return files.first(...lists, 'manage.py', 'main.py', 'app.py') === undefined
      ? null
      : planPython(options)
  },
}

function planPython(options: Options): Found {
  const { files, settings, buildVariables } = options
  const member = membershipIn(options, 'python')
  const folder = member?.directory ?? ''
  const project = files.toml('pyproject.toml')
  const packages = packagesOf(files, project)
  const has = (name: string) => packages.has(name)
  const version = chooseVersion('Python', settings, [
    {
      range: files.line('.python-version') ?? member?.workspace.files.line('.python-version'),
      from: '.python-version',
    },
    { range: files.line('runtime.txt'), from: 'runtime.txt' },
    { range: /^python\s+(\S+)/m.exec(files.text('.tool-versions'))?.[1], from: '.tool-versions' },
    {
      range: rangeOf(objectOf(project['project'])['requires-python']),
      from: 'requires-python in pyproject.toml',
    },
    {
      range: rangeOf(
        objectOf(objectOf(objectOf(project['tool'])['poetry'])['dependencies'])['python'],
      ),
      from: 'pyproject.toml',
    },
  ])
  const installer = member ? installerOfMember(member) : installerOf(files, project)
  const framework = frameworks.find((framework) => framework.isFound({ files, has }))
  const served = startOf({ files, has, framework, start: settings.start })
  const system = systemPackages.filter(({ of }) => of.some(has))
  const build = settings.build ?? (framework?.name === 'Django' ? collectStatic(files) : null)
  const install =
    settings.install === undefined ? installer.install : [inFolder(folder, settings.install)]
  const isIdle = (file: string) => files.has(file) && !installer.manifests.includes(file)
  // In the last stage a change of the app compares no packages with those of the last build; but what a
  // user's own command leaves, and build variables, stay out of it.
  const endsWith = settings.build === undefined && buildVariables.length === 0 ? build : null
  const isBuilt = build !== null && endsWith === null
  const isPlain = install.length === 0 && served.add.length === 0 && !isBuilt
  return {
    kind: framework?.name ?? 'Python',
    ...(member && { context: member.workspace.root }),
    reasons: [
      ...(member?.reasons ?? []),
      ...(framework ? [`${framework.name} from ${installer.from}`] : []),
      installer.reason + notUsed(lockFiles.filter(isIdle)),
      version.reason,
      ...served.add.map(
        (name) => `adds ${name}, since ${framework?.name}’s own server isn’t meant for production`,
      ),
      ...(build === null ? [] : [`builds with ${build}`]),
      `starts with ${served.start}`,
    ],
    dockerfile: dockerfile(
      isPlain
        ? null
        : [
            `FROM ${version.image} AS build`,
            'ENV PYTHONDONTWRITEBYTECODE=1 VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH',
            'WORKDIR /app',
            installPackages(...system.map(({ build }) => build), settings.packages),
            'RUN python -m venv /opt/venv',
            ...(installer.needsCode
              ? ['COPY . .']
              : installer.manifests.length === 0
                ? []
                : [copy(installer.manifests, './')]),
            ...install.map((line) => run(line, ['/root/.cache'])),
            served.add.length === 0
              ? null
              : run(`pip install ${served.add.join(' ')}`, ['/root/.cache']),
            ...(!isBuilt
              ? []
              : [
                  ...(installer.needsCode ? [] : ['COPY . .']),
                  ...buildArguments(buildVariables),
                  run(inFolder(folder, build)),
                ]),
          ],
      [
        `FROM ${version.image}`,
        `ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1${isPlain ? '' : ' PATH=/opt/venv/bin:$PATH'} PORT=8000` +
          (served.env === undefined ? '' : ` ${served.env}`),
        installPackages(...system.map(({ run }) => run), settings.packages),
        'RUN useradd --create-home --uid 1000 app',
        'WORKDIR /app',
        'RUN chown app:app /app',
        isPlain ? null : 'COPY --from=build /opt/venv /opt/venv',
        !isBuilt
          ? `COPY --chown=app:app ${folder || '.'} .`
          : `COPY --from=build --chown=app:app /app${folder && `/${folder}`} .`,
        'USER app',
        endsWith === null ? null : run(endsWith),
        ...started(served.start, 8000),
      ],
    ),
    ignore: '__pycache__ **/__pycache__ *.pyc .venv venv .pytest_cache .mypy_cache'.split(' '),
    settings: { version: version.version, start: served.start, ...(build !== null && { build }) },
    links: linksOfPackages(has, installer.from),
    releaseCommand:
      framework?.name === 'Django'
        ? 'python manage.py migrate'
        : has('alembic') && files.has('alembic.ini')
          ? 'alembic upgrade head'
          : null,
  }
}

const lockFiles = ['uv.lock', 'poetry.lock', 'pdm.lock', 'Pipfile.lock']

const rangeOf = (value: unknown) => stringOf(value)?.replaceAll(',', ' ') ?? null

/** Names of packages in lower case with hyphens, as the index compares them. */
function packagesOf(files: Files, project: JsonObject): Set<string> {
  const names = new Set<string>()
  const add = (text: unknown) => {
    const name = /^\s*([A-Za-z0-9][\w.-]*)/.exec(stringOf(text) ?? '')?.[1]
    if (name !== undefined) names.add(normalName(name))
  }
  for (const line of files.text('requirements.txt').split('\n')) add(line)
  const listed = objectOf(project['project'])['dependencies']
  if (Array.isArray(listed)) listed.forEach(add)
  const poetry = objectOf(objectOf(objectOf(project['tool'])['poetry'])['dependencies'])
  Object.keys(poetry).forEach(add)
  const pipfile = objectOf(files.toml('Pipfile')['packages'])
  Object.keys(pipfile).forEach(add)
  return names
}

/** Packages whose wheels aren't on the index: they are compiled, and need a library when they run. */
const systemPackages = [
  { of: ['psycopg2'], build: ['gcc', 'libpq-dev'], run: ['libpq5'] },
  { of: ['psycopg'], build: [], run: ['libpq5'] },
  {
    of: ['mysqlclient'],
    build: ['gcc', 'pkg-config', 'default-libmysqlclient-dev'],
    run: ['libmariadb3'],
  },
  {
    of: ['uwsgi', 'python-ldap'],
    build: ['gcc', 'libldap-dev', 'libsasl2-dev'],
    run: ['libldap2'],
  },
]
