// An app with PostgreSQL, Redis, a worker and migrations, by Davit's JSON alone. With Node or Bun:
//
//   DAVIT_URL=https://davit.example.com DAVIT_TOKEN=dvt_… \
//     node app-with-database.mjs https://git.example.com/you/notes.git
//
// The token needs the scope `write`. The commands are those of test/demo/notes: put your app's here.

const name = 'notes'
const templates = ['postgresql', 'redis']
const settings = {
  processes: [
    { name: 'web', command: 'bun web.js' },
    { name: 'worker', command: 'bun worker.js' },
  ],
  releaseCommand: 'bun migrate.js',
}

const [repositoryUrl] = process.argv.slice(2)
const { DAVIT_URL, DAVIT_TOKEN } = process.env
const headers = { Authorization: `Bearer ${DAVIT_TOKEN}`, 'Content-Type': 'application/json' }

async function davit(method, path, body, accept = 'application/json') {
  const answer = await fetch(DAVIT_URL + path, {
    method,
    headers: { ...headers, Accept: accept },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`)
  return accept === 'application/json' ? JSON.parse(text) : text
}

/** Waits until a service has started. */
async function started(path) {
  for (;;) {
    const { status, error } = await davit('GET', path)
    if (status === 'running') return
    if (status === 'failed') throw new Error(`${path} failed to start: ${error.message}`)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

const project = await davit('POST', '/projects', { name, repositoryUrl })
const envs = `/projects/${project.id}/envs`
const [environment] = (await davit('GET', envs)).items

for (const template of templates) {
  const { id } = await davit('POST', `/services/${template}`, { name: `${name}-${template}` })
  await started(`/services/${id}`)
  const link = await davit('POST', `/envs/${environment.id}/links`, { serviceId: id })
  console.log(template, 'provides', link.variables.map(({ key }) => key).join(', '))
}
await davit('PUT', `${envs}/${environment.id}`, settings)

const deployments = `/projects/${project.id}/deployments`
const { id } = await davit('POST', deployments, {})
await davit('GET', `${deployments}/${id}/logs?format=json`, null, 'text/event-stream') // ends with it
const { status, url, error } = await davit('GET', `${deployments}/${id}`)
console.log(status, status === 'running' ? url : `${error?.message} ${error?.hint}`)
process.exitCode = status === 'running' ? 0 : 1
