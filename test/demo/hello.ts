import { ensureStandIns } from '../support/images/stand-ins.ts'
import { ensureImage } from '../support/machine.ts'
import type { DavitClient } from './client.ts'
import { checkApp, showGoingBack, watch } from './deploy.ts'
import type { Deployment } from './deploy.ts'
import type { Commit } from './sample.ts'
import { makeSample } from './sample.ts'
import type { Stage } from './stage.ts'
import { heading, success } from './terminal.ts'
import { removeProject } from './tidy.ts'
import { visit } from './visitors.ts'

/** From a git URL to a running app, a change to it, and back again. */
export async function showDeployments({ davit, account, signal, ...stage }: Stage) {
  // What is written without one is based on Caddy.
  const sample = makeSample(stage.repositories, { hasDockerfile: !stage.hasEdge })
  const repositoryUrl = `${stage.gitUrl}${sample.name}`
  const project = await davit.post<{ id: string }>('/projects', { name: 'hello', repositoryUrl })
  stage.defer(() => removeProject(davit, project.id))
  success(`${account.email} has a project for ${repositoryUrl}`)

  const deployments = `/projects/${project.id}/deployments`
  const follow = async (started: Deployment, commit: Commit) => {
    const deployment = await watch(davit, started)
    await checkApp(deployment, { commit, signal })
    success(`${deployment.url} says “${commit.greeting}”`)
    return deployment
  }

  const hello = sample.commit('Hello')
  if (stage.hasEdge) await showDetection(davit, project.id)

  heading('Deploy the first commit')
  const first = await follow(await davit.post(deployments), hello)

  const visitors = stage.hasEdge ? visit(first.url, ['Hello', 'Ahoy', 'Avast']) : null

  heading('Commit a change and deploy again')
  const ahoy = sample.commit('Ahoy')
  const second = await follow(await davit.post(deployments), ahoy)

  let ownFailures = 0
  if (visitors) {
    heading('Deploy a version that crashes at its 20th request')
    sample.commit('Avast', { crashesAt: 20 })
    ownFailures = await showGoingBack(davit, await davit.post(deployments))
    await checkApp(second, { commit: ahoy, signal })
    success(`${second.url} says “${ahoy.greeting}” again`)
  }

  heading('Roll back to the first deployment')
  const back = await follow(await davit.post(`${deployments}/${first.id}/rollback`), hello)

  if (visitors) {
    const { requests, failures } = await visitors.stop()
    const sum = `${requests} requests came meanwhile, ${failures.length} failed`
    if (failures.length > ownFailures) throw new Error(`${sum}: ${failures[0]}`)
    success(sum)
  }

  stage.showPlaces(`${deployments}/${back.id}`, back.url)
}

/** What Davit takes the repository for, which has no Dockerfile. */
async function showDetection(davit: DavitClient, id: string) {
  const path = `/projects/${id}/detection`
  const { kind, reasons, dockerfile } = await davit.get<Detection>(path)
  if (dockerfile === null) throw new Error('The sample repository isn’t recognised.')
  success(`It has no Dockerfile, and is recognised: ${kind}, as Davit ${reasons.join('; ')}`)
  for (const [, image] of dockerfile.matchAll(/^FROM (\S+)/gm))
    if (!(await ensureImage(image!, { seconds: 30 }))) await ensureStandIns([image!])
}

type Detection = { kind: string | null; reasons: string[]; dockerfile: string | null }
