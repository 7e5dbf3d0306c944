import type { Files, JsonObject } from './files.ts'
import { objectOf, stringOf } from './files.ts'
import { linksOfPackages } from './links.ts'
import { appFiles } from './manifests.ts'
import { lacking } from './plan.ts'
import type { Found, Options, Rule } from './plan.ts'
import { collectStatic, frameworks, startOf } from './python-start.ts'
import {
  buildArguments,
  command,
  copy,
  dockerfile,
  effective,
  ignored,
  installPackages,
  notUsed,
  run,
} from './text.ts'
import { chooseVersion } from './versions.ts'
import { normalName } from './workspace-kinds.ts'
import { inFolder, membershipIn } from './workspaces.ts'
import type { Membership } from './workspaces.ts'

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
  const extra = settings.packages ?? []
  const build = settings.build ?? (framework?.name === 'Django' ? collectStatic(files) : null)
  const install =
    settings.install === undefined ? installer.install : [inFolder(folder, settings.install)]
  const isIdle = (file: string) => files.has(file) && !installer.manifests.includes(file)
  const isPlain = install.length === 0 && served.add.length === 0 && build === null
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
            installPackages([...system.flatMap(({ build }) => build), ...extra]),
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
            ...(build === null
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
        installPackages([...system.flatMap(({ run }) => run), ...extra]),
        'RUN useradd --create-home --uid 1000 app',
        'WORKDIR /app',
        'RUN chown app:app /app',
        isPlain ? null : 'COPY --from=build /opt/venv /opt/venv',
        build === null
          ? `COPY --chown=app:app ${folder || '.'} .`
          : `COPY --from=build --chown=app:app /app${folder && `/${folder}`} .`,
        'USER app',
        'EXPOSE 8000',
        'STOPSIGNAL SIGTERM',
        command(served.start),
      ],
    ),
    dockerignore: ignored(
      '__pycache__',
      '**/__pycache__',
      '*.pyc',
      '.venv',
      'venv',
      '.pytest_cache',
      '.mypy_cache',
    ),
    settings: effective(
      { version: version.version, start: served.start, ...(build !== null && { build }) },
      settings,
    ),
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

type Installer = {
  from: string
  reason: string
  manifests: string[]
  install: string[]
  /** The project itself is a package. */
  needsCode?: boolean
}

const listDependencies = `python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb")).get("project", {}).get("dependencies", []), sep="\\n")'`

/** Each installs into the virtual environment that is active. */
function installerOf(files: Files, project: JsonObject): Installer {
  const has = (path: string) => files.has(path)
  // Its packages may be folders or archives of the repository.
  const needsCode = /[{,]\s*(path|file)\s*=/.test(files.text('pyproject.toml'))
  const ofProject = { from: 'pyproject.toml', needsCode }
  if (has('uv.lock'))
    return {
      ...ofProject,
      reason: 'uv from uv.lock',
      manifests: ['pyproject.toml', 'uv.lock'],
      install: [
        'python -m venv /opt/uv && /opt/uv/bin/pip install uv',
        `/opt/uv/bin/uv sync --active --locked --no-dev --no-install-project${hasFolders(project) ? ' --no-editable' : ''}`,
      ],
      needsCode: hasFolders(project),
    }
  if (has('poetry.lock'))
    return {
      ...ofProject,
      reason: 'Poetry from poetry.lock',
      manifests: ['pyproject.toml', 'poetry.lock'],
      install: [
        'python -m venv /opt/poetry && /opt/poetry/bin/pip install poetry',
        '/opt/poetry/bin/poetry install --only main --no-root --no-interaction',
      ],
    }
  if (has('pdm.lock'))
    return {
      ...ofProject,
      reason: 'PDM from pdm.lock',
      manifests: ['pyproject.toml', 'pdm.lock'],
      install: [
        'python -m venv /opt/pdm && /opt/pdm/bin/pip install pdm',
        '/opt/pdm/bin/pdm sync --prod --no-self --no-editable',
      ],
    }
  if (has('Pipfile'))
    return {
      from: 'Pipfile',
      reason: has('Pipfile.lock')
        ? 'Pipenv from Pipfile.lock'
        : 'Pipenv from Pipfile, without a lock file: each build may get other versions',
      manifests: ['Pipfile', ...(has('Pipfile.lock') ? ['Pipfile.lock'] : [])],
      install: [
        'python -m venv /opt/pipenv && /opt/pipenv/bin/pip install pipenv',
        `PIPENV_VERBOSITY=-1 /opt/pipenv/bin/pipenv ${has('Pipfile.lock') ? 'sync' : 'install'}`,
      ],
    }
  if (has('requirements.txt')) {
    // It may name other lists, and this directory itself.
    const refers = /^[ \t]*(-r|-c|-e|--requirement|--constraint|--editable|\.|[\w.-]+\/)/m.test(
      files.text('requirements.txt'),
    )
    return {
      from: 'requirements.txt',
      reason: 'pip from requirements.txt',
      manifests: ['requirements.txt'],
      install: ['pip install -r requirements.txt'],
      ...(refers && { needsCode: true }),
    }
  }
  if (has('pyproject.toml'))
    return {
      from: 'pyproject.toml',
      reason: 'pip from pyproject.toml, without a lock file: each build may get other versions',
      manifests: ['pyproject.toml'],
      // An app that isn't a package itself has its list alone.
      ...(project['build-system'] === undefined
        ? { install: [`${listDependencies} > /tmp/list && pip install -r /tmp/list`] }
        : { install: ['pip install .'], needsCode: true }),
    }
  return { from: 'its files', reason: 'no list of packages', manifests: [], install: [] }
}

/** Whether packages that uv installs are folders of the repository. */
function hasFolders(project: JsonObject) {
  const { workspace, sources } = objectOf(objectOf(project['tool'])['uv'])
  const paths = Object.values(objectOf(sources)).map((source) => objectOf(source)['path'])
  return workspace !== undefined || paths.some((path) => path !== undefined)
}

/** The packages that it needs are installed as any other, so the app has none of their code beside its own. */
function installerOfMember({ workspace, directory }: Membership): Installer {
  const name = workspace.members.get(directory)?.name ?? ''
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name))
    throw lacking('pyproject.toml has no name of a project.', 'Set project.name.')
  const locked = workspace.files.has('uv.lock') ? ' --locked' : ''
  return {
    from: 'pyproject.toml',
    reason: `uv from ${locked === '' ? 'pyproject.toml, without its lock file: each build may get other versions' : 'uv.lock'}`,
    manifests: [],
    install: [
      'python -m venv /opt/uv && /opt/uv/bin/pip install uv',
      `/opt/uv/bin/uv sync --active${locked} --no-dev --no-editable --package ${name}`,
    ],
    needsCode: true,
  }
}

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
