import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { backupsOf } from './backups.ts'
import type { Backup } from './backups.ts'
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

  await showBackup()

  stage.showPlaces(`${envs}/${envId}`, second.url)

  async function showBackup() {
    heading('Back the database up, prove the backup, lose a table and bring it back')
    const [{ id }] = services as [Service]
    const path = join(stage.directory, 'target')
    await mkdir(path)
    const target = { kind: 'directory', name: 'disk', path }
    const { id: targetId } = await davit.post<{ id: string }>('/settings/targets', target)
    const backups = backupsOf(davit, id, targetId)
    const backup = await backups.backUp()
    success(`PostgreSQL is backed up: ${countsOf(backup)}, encrypted by restic in ${path}`)
    const { proven } = await backups.prove(backup)
    success(
      `It is proven restorable: ${proven!.rows} rows came back in ${proven!.seconds} s elsewhere`,
    )
    await runCommand('bun drop.js')
    const { status } = await fetchApp(`${second.url}/notes`, { signal })
    if (status !== 500) throw new Error(`The app responds ${status} without its table.`)
    success(`The table of the notes is dropped, and the app responds ${status}`)
    await backups.restore(backup, { backupFirst: true })
    const restored = await notesOf(second)
    if (restored.length !== 2) throw new Error(`Not all came back: ${JSON.stringify(restored)}`)
    success(
      `It is restored, after a backup of what it replaces: the app has its ${restored.length} notes`,
    )
    await addNote(second, 'Added after the restore')
  }

  async function runCommand(command: string) {
    const runs = `/envs/${envId}/runs`
    const { id } = await davit.post<{ id: string }>(runs, { command })
    let exitCode: number | null = null
    await until(async () => {
      const run = await davit.get<{ finishedAt: string | null; exitCode: number | null }>(
        `${runs}/${id}`,
      )
      exitCode = run.exitCode
      return run.finishedAt !== null
    })
    if (exitCode !== 0) throw new Error(`${command} ended with exit code ${exitCode}`)
  }

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

const countsOf = ({ contents, rows }: Backup) => {
  const tables = contents!.flatMap(({ databases }) => databases.flatMap((one) => one.tables))
  return `${tables.length} tables, ${rows} rows`
}

async function untilRunning(davit: DavitClient, { id, name }: Service) {
  for (;;) {
    const { status, error } = await davit.get<Service>(`/services/${id}`)
    if (status === 'running') return
    if (status === 'failed') throw new Error(`${name} failed to start: ${error?.message}`)
    await Bun.sleep(500)
  }
}
