import type { Files, JsonObject } from './files.ts'
import { objectOf } from './files.ts'
import { lacking } from './plan.ts'
import type { Membership } from './workspaces.ts'

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
export function installerOf(files: Files, project: JsonObject): Installer {
  const has = (path: string) => files.has(path)
  // Its packages may be folders or archives of the repository.
  const needsCode = /[{,]\s*(path|file)\s*=/.test(files.text('pyproject.toml'))
  const ofProject = { from: 'pyproject.toml', needsCode }
  if (has('uv.lock'))
    return {
      ...ofProject,
      reason: 'uv from uv.lock',
      manifests: ['pyproject.toml', 'uv.lock'],
      install: by(
        'uv',
        `sync --active --locked --no-dev --no-install-project${hasFolders(project) ? ' --no-editable' : ''}`,
      ),
      needsCode: hasFolders(project),
    }
  if (has('poetry.lock'))
    return {
      ...ofProject,
      reason: 'Poetry from poetry.lock',
      manifests: ['pyproject.toml', 'poetry.lock'],
      install: by('poetry', 'install --only main --no-root --no-interaction'),
    }
  if (has('pdm.lock'))
    return {
      ...ofProject,
      reason: 'PDM from pdm.lock',
      manifests: ['pyproject.toml', 'pdm.lock'],
      install: by('pdm', 'sync --prod --no-self --no-editable'),
    }
  if (has('Pipfile'))
    return {
      from: 'Pipfile',
      reason: has('Pipfile.lock')
        ? 'Pipenv from Pipfile.lock'
        : 'Pipenv from Pipfile, without a lock file: each build may get other versions',
      manifests: files.present('Pipfile', 'Pipfile.lock'),
      install: by('pipenv', has('Pipfile.lock') ? 'sync' : 'install', 'PIPENV_VERBOSITY=-1 '),
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

/** By a program of Python that is apart from the app's packages. */
const by = (program: string, words: string, variables = '') => [
  `python -m venv /opt/${program} && /opt/${program}/bin/pip install ${program}`,
  `${variables}/opt/${program}/bin/${program} ${words}`,
]

/** Whether packages that uv installs are folders of the repository. */
function hasFolders(project: JsonObject) {
  const { workspace, sources } = objectOf(objectOf(project['tool'])['uv'])
  const paths = Object.values(objectOf(sources)).map((source) => objectOf(source)['path'])
  return workspace !== undefined || paths.some((path) => path !== undefined)
}

/** The packages that it needs are installed as any other, so the app has none of their code beside its own. */
export function installerOfMember({ workspace, directory }: Membership): Installer {
  const name = workspace.members.get(directory)?.name ?? ''
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name))
    throw lacking('pyproject.toml has no name of a project.', 'Set project.name.')
  const locked = workspace.files.has('uv.lock') ? ' --locked' : ''
  return {
    from: 'pyproject.toml',
    reason: `uv from ${locked === '' ? 'pyproject.toml, without its lock file: each build may get other versions' : 'uv.lock'}`,
    manifests: [],
    install: by('uv', `sync --active${locked} --no-dev --no-editable --package ${name}`),
    needsCode: true,
  }
}
