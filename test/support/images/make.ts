import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { connectDocker } from '../../../src/docker/index.ts'
import { buildTestImage } from '../images.ts'
import { askEngine } from '../machine/engine.ts'
import { imageOf, nextPostgres, recipes } from './recipes.ts'
import type { Recipe } from './recipes.ts'
import { scripts, withServersTar } from './root.ts'

/** The label of an image that was made here; it tells from what. */
const madeFrom = 'test.made-from'

/** The names of the images that are missing, or were made in another way than now. */
export async function missingServiceImages(): Promise<string[]> {
  const base = await baseName()
  const missing: string[] = []
  for (const recipe of recipes) {
    const name = await imageOf(recipe.template)
    if (!isMadeFrom(await inspect(name), dockerfile(base, recipe))) missing.push(name)
  }
  const next = await nextPostgres()
  if (!isMadeFrom(await inspect(next), await nextDockerfile())) missing.push(next)
  return missing
}

/** Makes the images of the catalogue that can be made of Debian's packages. */
export async function makeServiceImages() {
  const base = await baseName()
  if (!(await inspect(base))) await importBase(base)
  for (const recipe of recipes) {
    const name = await imageOf(recipe.template)
    const text = dockerfile(base, recipe)
    if (!isMadeFrom(await inspect(name), text)) await build(name, text)
  }
  await build(await nextPostgres(), await nextDockerfile())
}

type Inspected = { Id: string; Config: { Labels: Record<string, string> | null } }

async function inspect(name: string): Promise<Inspected | null> {
  const answer = await askEngine(`/images/${name}/json`)
  return answer.ok ? ((await answer.json()) as Inspected) : null
}

/** One that was pulled is as good as one made here, and left as it is. */
function isMadeFrom(image: Inspected | null, text: string) {
  const from = image?.Config.Labels?.[madeFrom]
  return image !== null && (from === undefined || from === hashOf(text))
}

const importBase = (base: string) =>
  withServersTar(async (tar) => {
    const [repo, tag] = base.split(':')
    const parameters = new URLSearchParams({ fromSrc: '-', repo: repo!, tag: tag! })
    const answer = await askEngine(`/images/create?${parameters}`, { method: 'POST', body: tar })
    const output = await answer.text()
    if (!(await inspect(base)))
      throw new Error(`The Docker Engine does not import ${base}: ${output.trim()}`)
  })

const dockerfile = (base: string, { template, lines }: Recipe) =>
  [
    `FROM ${base}`,
    `ENV LC_ALL=C.UTF-8 PATH=${scripts}/${template}:${path}`,
    'ENTRYPOINT ["docker-entrypoint.sh"]',
    ...lines,
  ].join('\n')

const path = '/usr/local/bin:/usr/lib/rabbitmq/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The same server under another tag: data can move there and back. */
async function nextDockerfile() {
  const image = await imageOf('postgresql')
  return `FROM ${image}\nLABEL test.next-of=${(await inspect(image))?.Id}`
}

async function build(tag: string, text: string) {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  await buildTestImage(docker, { tag, dockerfile: `${text}\nLABEL ${madeFrom}=${hashOf(text)}\n` })
}

/** Named after all that it is made from but the packages, which are Debian's newest. */
async function baseName() {
  const own = (await readdir(join(import.meta.dir, 'roots'), { recursive: true })).toSorted()
  const shell = own.filter((file) => file.endsWith('.sh')).map((file) => join('roots', file))
  const files = ['packages.ts', 'root.ts', ...shell]
  const texts = files.map((file) => Bun.file(join(import.meta.dir, file)).text())
  return `davit-test-servers:${hashOf((await Promise.all(texts)).join('\n'))}`
}

const hashOf = (text: string) =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 12)
