import { until } from '../support/until.ts'
import type { DavitClient } from './client.ts'
import { fetchApp, watch } from './deploy.ts'
import type { Deployment } from './deploy.ts'
import { makeNotes } from './notes.ts'
import type { Stage } from './stage.ts'
import { heading, success } from './terminal.ts'
import { removeProject, removeService } from './tidy.ts'

type Service = { id: string; name: string; status: string; error: { message: string } | null }
type Link = { id: string; host: string; variables: { key: string }[] }
type Note = { id: number; text: string; words: number | null; author?: string }

/** An app of a web process and a worker, with PostgreSQL, Redis and migrations, in one go. */
export async function showDatabase({ davit, account, signal, ...stage }: Stage) {
  const services: Service[] = [] // removed when the app is
  stage.defer(async () => {
    for (const { id } of services) await removeService(davit, id)
  })
  const notesApp = makeNotes(stage.repositories)
  const repositoryUrl = `${stage.gitUrl}${notesApp.name}`
  const project = await davit.post<{ id: string }>('/projects', { name: 'notes', repositoryUrl })
  stage.defer(() => removeProject(davit, project.id))
  const envs = `/projects/${project.id}/envs`
  const [environment] = (await davit.get<{ items: { id: string }[] }>(envs)).items
  const { id: envId } = environment!
  success(`${account.email} has a project for ${repositoryUrl}`)

  heading('Create a database and a queue, and link both to the app')
  for (const [template, title] of [
    ['postgresql', 'PostgreSQL'],
    ['redis', 'Redis'],
  ] as const) {
    const service = await davit.post<Service>(`/services/${template}`, {
      name: `notes-${template}`,
    })
    services.push(service)
    await untilRunning(davit, service)
    const link = await davit.post<Link>(`/envs/${envId}/links`, { serviceId: service.id })
    const keys = link.variables.map(({ key }) => key).join(', ')
    success(`${title} runs. The app reaches it as ${link.host}, and gets ${keys}`)
  }

  heading('Say what runs, as the Procfile has it')
  const { commands } = notesApp
  const processes = ['web', 'worker'].map((name) => ({ name, command: commands.get(name)! }))
  await davit.put(`${envs}/${envId}`, { processes, releaseCommand: commands.get('release') })
  for (const { name, command } of processes) success(`${name}: ${command}`)
  success(`before each switch: ${commands.get('release')}`)

  heading('Deploy the first commit')
  const first = await deploy()
  await addNote(first, 'Stored in PostgreSQL, counted by way of Redis')

  heading('Commit a migration and deploy again')
  notesApp.addAuthors()
  const second = await deploy()
  const notes = await notesOf(second)
  if (notes.length !== 1 || notes[0]!.author !== 'demo')
    throw new Error(`The migration did not come to pass: ${JSON.stringify(notes)}`)
  success('The note is still there, with the author that the migration gave it')
  await addNote(second, 'Added by the new version')

  stage.showPlaces(`${envs}/${envId}`, second.url)

  async function deploy() {
    const deployment = await watch(davit, await davit.post(`/projects/${project.id}/deployments`))
    const step = (name: string) => deployment.steps.find((one) => one.name === name)
    const migrated = step('releasing')?.finishedAt
    if (!migrated || migrated > step('deploying')!.startedAt)
      throw new Error(`The migration did not end before the switch: ${JSON.stringify(deployment)}`)
    success(`${deployment.url} runs, and the migration had ended before the switch began`)
    return deployment
  }

  async function addNote({ url }: Deployment, text: string) {
    await fetchApp(`${url}/notes`, { method: 'POST', body: new URLSearchParams({ text }), signal })
    let note: Note | undefined
    await until(async () => {
      signal.throwIfAborted()
      note = (await notesOf({ url })).find((one) => one.text === text)
      return typeof note?.words === 'number'
    })
    const words = text.split(' ').length
    if (note!.words !== words) throw new Error(`The worker counted ${note!.words} words: ${text}`)
    success(`${url} has the note “${text}”, and the worker counted its ${words} words`)
  }

  async function notesOf({ url }: Pick<Deployment, 'url'>) {
    return (await (await fetchApp(`${url}/notes`, { signal })).json()) as Note[]
  }
}

async function untilRunning(davit: DavitClient, { id, name }: Service) {
  for (;;) {
    const { status, error } = await davit.get<Service>(`/services/${id}`)
    if (status === 'running') return
    if (status === 'failed') throw new Error(`${name} failed to start: ${error?.message}`)
    await Bun.sleep(500)
  }
}
