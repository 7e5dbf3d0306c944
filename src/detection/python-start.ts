import type { Files } from './files.ts'
import { webOfProcfile } from './files.ts'
import { appFiles } from './manifests.ts'
import { lacking } from './plan.ts'
import { list } from './text.ts'

type Framework = {
  name: string
  isFound: (given: { files: Files; has: (name: string) => boolean }) => boolean
}

export const frameworks: Framework[] = [
  {
    name: 'Django',
    isFound: ({ files, has }) =>
      files.has('manage.py') && (has('django') || files.find(/(^|\/)wsgi\.py$/) !== undefined),
  },
  { name: 'FastAPI', isFound: ({ has }) => has('fastapi') },
  { name: 'Streamlit', isFound: ({ has }) => has('streamlit') },
  { name: 'Gradio', isFound: ({ has }) => has('gradio') },
  { name: 'Flask', isFound: ({ has }) => has('flask') },
]

type Served = { start: string; add: string[]; env?: string }

export function startOf({
  files,
  has,
  framework,
  start,
}: {
  files: Files
  has: (name: string) => boolean
  framework: Framework | undefined
  start: string | undefined
}): Served {
  const set = start ?? webOfProcfile(files)
  if (set !== null) return { start: set, add: [] }
  const isMissing = (name: string) => (has(name) ? [] : [name])
  const script = files.first(
    ...list('main.py app.py src/main.py app/main.py server.py run.py streamlit_app.py'),
  )
  switch (framework?.name) {
    case 'Django': {
      const wsgi = files.find(/^[\w/]+\/wsgi\.py$/)
      if (wsgi === undefined)
        throw lacking(
          'This is a Django project without a wsgi.py.',
          'Add it as Django’s startproject does, or set the start command.',
        )
      const name = wsgi.slice(0, -'wsgi.py'.length).replaceAll('/', '.')
      if (has('uvicorn'))
        return { start: `uvicorn ${name}asgi:application --host 0.0.0.0 --port $PORT`, add: [] }
      if (has('daphne'))
        return { start: `daphne -b 0.0.0.0 -p $PORT ${name}asgi:application`, add: [] }
      return {
        start: `gunicorn --bind 0.0.0.0:$PORT ${name}wsgi:application`,
        add: isMissing('gunicorn'),
      }
    }
    case 'FastAPI':
      return {
        start: `uvicorn ${appOf(files, /^(\w+)\s*(?::\s*\w+\s*)?=\s*(?:fastapi\.)?FastAPI\(/m, 'FastAPI')} --host 0.0.0.0 --port $PORT`,
        add: isMissing('uvicorn'),
      }
    case 'Flask': {
      const pattern =
        /^(\w+)\s*(?::\s*\w+\s*)?=\s*(?:flask\.)?Flask\(|^def (create_app|make_app)\(/m
      const app = appOf(files, pattern, 'Flask')
      // One that is called has characters of a shell.
      const exec = app.endsWith(")'") ? 'exec ' : ''
      return { start: `${exec}gunicorn --bind 0.0.0.0:$PORT ${app}`, add: isMissing('gunicorn') }
    }
    case 'Streamlit':
      if (script === undefined) break
      return {
        start: `streamlit run ${script} --server.port $PORT --server.address 0.0.0.0 --server.headless true`,
        add: [],
      }
    case 'Gradio':
      if (script === undefined) break
      return {
        start: `GRADIO_SERVER_PORT=$PORT exec python ${script}`,
        add: [],
        env: 'GRADIO_SERVER_NAME=0.0.0.0',
      }
  }
  if (script !== undefined) return { start: `python ${script}`, add: [] }
  throw lacking(
    'This is a Python project, but it doesn’t say how the app starts.',
    'Add a main.py or app.py, a Procfile with a line “web:”, or set the start command.',
  )
}

/** The module and name of the app object, such as `app.main:app`; calls the function that makes one. */
function appOf(files: Files, pattern: RegExp, name: string): string {
  for (const path of appFiles) {
    const found = pattern.exec(files.text(path))
    if (!found) continue
    const module = path
      .slice(0, -'.py'.length)
      .replace(/\/__init__$/, '')
      .replaceAll('/', '.')
    return found[1] === undefined ? `'${module}:${found[2]}()'` : `${module}:${found[1]}`
  }
  throw lacking(
    `This uses ${name}, but no app was found in ${appFiles.slice(0, 4).join(', ')} and the like.`,
    `Create it at the top of main.py, as in “app = ${name}(…)”, or set the start command.`,
  )
}

/**
 * Django says where static files go only when they are to be collected. Its settings may insist on a secret key,
 * which isn't used for that, and which a build isn't given unless it is a variable of the build.
 */
export function collectStatic(files: Files): string | null {
  const path = files.find(/^[\w/]*settings(\/(base|production|__init__))?\.py$/)
  const text = path === undefined ? '' : files.text(path)
  if (!/^[ \t]*STATIC_ROOT\s*=/m.test(text)) return null
  const [, from = '', name] =
    /^[ \t]*SECRET_KEY\s*=([^'"]{0,120})['"]([A-Za-z_]\w{0,99})['"]/m.exec(text) ?? []
  const key = /env|config/i.test(from) ? `${name}=\${${name}:-only-for-this-build} ` : ''
  return `${key}python manage.py collectstatic --noinput`
}
