import { makeEdgeImages, missingEdgeImages } from './images/edge.ts'
import { makeServiceImages, missingServiceImages } from './images/make.ts'
import { imageOf } from './images/recipes.ts'
import { findBrowser } from './machine/browsers.ts'
import { buildBusyboxTar } from './machine/busybox.ts'
import { which } from './machine/command.ts'
import { startDockerd } from './machine/dockerd.ts'
import { askEngine, engineAnswers } from './machine/engine.ts'
import { withMachineLock } from './machine/lock.ts'
import { installPackages } from './machine/packages.ts'

type Options = { say: (line: string) => void }

/** Makes sure that a Docker Engine answers: the one of `DOCKER_HOST`, the one here, else Debian's. */
export async function ensureEngine({ say }: Options) {
  if (await engineAnswers()) return
  if (process.env.DOCKER_HOST) {
    throw new Error(`No Docker Engine answers at DOCKER_HOST=${process.env.DOCKER_HOST}.`)
  }
  await withMachineLock(async () => {
    if (await engineAnswers()) return
    if (!which('dockerd')) {
      say("Installing the Docker Engine (Debian's docker.io), because none answers here.")
      await installPackages(['docker.io', 'iptables'])
    }
    if (await engineAnswers()) return
    say('Starting the Docker Engine.')
    await startDockerd()
  })
}

/** Makes sure that the engine has `busybox:latest`: pulled where that works, else Debian's, imported. */
export async function ensureBusyboxImage({ say }: Options) {
  if (await hasBusybox()) return
  await withMachineLock(async () => {
    if (await hasBusybox()) return
    say('Pulling busybox:latest, which the sample apps are built on.')
    if (await pull('busybox:latest', { seconds: 20 })) return
    say("It can't be pulled: importing busybox:latest from Debian's busybox-static.")
    if (!which('busybox')) await installPackages(['busybox-static'])
    await importBusybox(await buildBusyboxTar())
  })
}

/** Finds that browser, installing Debian's where there is none, and answers its path. */
export async function ensureBrowser(name: 'chromium' | 'firefox', { say }: Options) {
  const found = findBrowser(name)
  if (found) return found
  const debian = name === 'firefox' ? 'firefox-esr' : name
  return withMachineLock(async () => {
    const now = findBrowser(name)
    if (now) return now
    say(`Installing Debian's ${debian}, which the tests of the pages look through.`)
    await installPackages([debian])
    const installed = findBrowser(name)
    if (!installed) throw new Error(`Debian's ${debian} is installed, but \`${name}\` isn't found.`)
    return installed
  })
}

/** Finds an sshd, installing Debian's where there is none, and answers its path. */
export async function ensureSshd({ say }: Options) {
  const found = which('sshd')
  if (found) return found
  return withMachineLock(async () => {
    if (!which('sshd')) {
      say("Installing Debian's openssh-server, which the tests of git@ addresses talk to.")
      await installPackages(['openssh-server'])
    }
    const installed = which('sshd')
    if (!installed) throw new Error("Debian's openssh-server is installed, but no `sshd` is found.")
    return installed
  })
}

/** Finds an image registry, installing Debian's where there is none, and answers its path. */
export async function ensureRegistry({ say }: Options) {
  const found = which('docker-registry')
  if (found) return found
  return withMachineLock(async () => {
    if (!which('docker-registry')) {
      say("Installing Debian's docker-registry, which private images are pulled from.")
      await installPackages(['docker-registry'])
    }
    const installed = which('docker-registry')
    if (!installed) throw new Error("Debian's docker-registry is installed, but not found.")
    return installed
  })
}

/** Makes sure that the engine has PostgreSQL and Redis: pulled where that works, else made as below. */
export async function ensureDatabaseImages({ say }: Options) {
  const wanted = await Promise.all(['postgresql', 'redis'].map(imageOf))
  const isHere = await Promise.all(wanted.map(hasImage))
  for (const image of wanted.filter((_, index) => !isHere[index])) {
    say(`Pulling ${image}.`)
    if (!(await pull(image, { seconds: 300 }))) return ensureServiceImages({ say })
  }
}

/** Makes sure that the engine has the images of the catalogue which Debian's packages can stand in for. */
export async function ensureServiceImages({ say }: Options) {
  if ((await missingServiceImages()).length === 0) return
  await withMachineLock(async () => {
    const missing = await missingServiceImages()
    if (missing.length === 0) return
    say(`Making ${missing.join(', ')} of Debian's packages.`)
    await makeServiceImages()
  })
}

/** Makes sure that the engine has the Caddy that Davit runs as its edge, and an authority for it. */
export async function ensureEdgeImages({ say }: Options) {
  if ((await missingEdgeImages()).length === 0) return
  await withMachineLock(async () => {
    const missing = await missingEdgeImages()
    if (missing.length === 0) return
    say(`Making ${missing.join(', ')} of Debian's packages.`)
    await makeEdgeImages()
  })
}

/** Makes sure that programs are there, by their packages in Debian, which may need others. */
export async function ensurePackages(
  what: string,
  programs: Record<string, string>,
  others: string[] = [],
) {
  const missing = () => Object.keys(programs).filter((program) => !which(program))
  if (missing().length === 0) return
  await withMachineLock(async () => {
    if (missing().length === 0) return
    console.error(`Installing ${what} from Debian.`)
    await installPackages([...missing().map((program) => programs[program]!), ...others])
  })
}

/** Whether the engine has an image, or could pull it in time. */
export const ensureImage = async (name: string, { seconds }: { seconds: number }) =>
  (await hasImage(name)) || pull(name, { seconds })

const hasImage = async (name: string) => (await askEngine(`/images/${name}/json`)).ok
const hasBusybox = () => hasImage('busybox:latest')

/** Whether the engine has it then. A registry that is out of reach costs so many seconds at most. */
async function pull(name: string, { seconds }: { seconds: number }) {
  const request = { method: 'POST', signal: AbortSignal.timeout(seconds * 1000) }
  const [image, tag] = name.split(':')
  try {
    // The answer is 200 before the outcome is known: it must be read to its end.
    await (await askEngine(`/images/create?fromImage=${image}&tag=${tag}`, request)).text()
  } catch {
    return false
  }
  return hasImage(name)
}

async function importBusybox(tar: Blob) {
  const parameters = new URLSearchParams({ fromSrc: '-', repo: 'busybox', tag: 'latest' })
  parameters.set('changes', 'CMD ["sh"]')
  const answer = await askEngine(`/images/create?${parameters}`, { method: 'POST', body: tar })
  const output = await answer.text()
  if (!(await hasBusybox())) {
    throw new Error(`The Docker Engine does not import busybox:latest: ${output.trim()}`)
  }
}
