import { listHosts } from '../addresses/store.ts'
import type { Db } from '../db/index.ts'
import { sealServiceSecrets } from '../logs/secret-store.ts'
import { AppError, Failure } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { dotenv, readTemplate } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { secretsOf } from './definition.ts'
import type { Definition } from './definition.ts'
import { ownFile, readOwnFile } from './own-file.ts'
import { listPorts } from './store.ts'
import type { Service } from './store.ts'

type Deps = { db: Db; secrets: Secrets }

/** The stored part of a definition; its file is parsed again. */
type Stored = Omit<Definition, 'file'>

/** The definition that an instance was created from. Throws a Failure when it can't be read. */
export async function definitionOf(deps: Deps, service: Service): Promise<Definition> {
  const stored = storedIn(deps, service)
  try {
    return await opened(stored)
  } catch (error) {
    throw error instanceof AppError ? fileUnreadable(service, error) : error
  }
}

/** An earlier version may have accepted what this one refuses. */
const fileUnreadable = ({ name }: Service, cause: AppError) =>
  new Failure(
    'file_unreadable',
    `The file of the service ${name} can’t be read: ${cause.message}`,
    'Create a service from a corrected file, then delete this one.',
    { cause },
  )

const storedIn = (deps: Deps, service: Service): Stored => ({
  ...service,
  domains: listHosts(deps.db, { serviceId: service.id }),
  values: openValues(deps, service),
  ports: listPorts(deps.db, service.id),
})

const opened = async (stored: Stored): Promise<Definition> => ({
  ...stored,
  file: await readFile(stored),
})

/** Parses the file of a stored or a new definition. Throws `invalid` for an invalid one. */
export const readFile = async ({
  ownerId: owner,
  template,
  compose,
  values,
}: Pick<Stored, 'ownerId' | 'template' | 'compose' | 'values'>) =>
  template === ownFile
    ? readOwnFile(compose, values.get(dotenv) ?? null, { owner })
    : readOfTemplate(template, compose)

/** A cache of parsed templates: pages of environments need those of all links. */
const known = new Map<string, Template>()
const maxKnown = 32

function readOfTemplate(template: string, compose: string): Template {
  const key = `${template}\0${compose}`
  const found = known.get(key)
  if (found) return found
  const read = readTemplate(compose, { file: `${template}.yaml` })
  known.set(key, read)
  if (known.size > maxKnown) known.delete(known.keys().next().value!)
  return read
}

/** True when the stored definition hasn't changed since this one was read. */
export const isStored = (deps: Deps, definition: Stored, service: Service) =>
  textOf(storedIn(deps, service)) === textOf(definition)

const sealedAs = (serviceId: string) => `service ${serviceId}`

/** Encrypts the values of an instance's variables, and the list of those that are secret. */
export const sealValues = (
  { secrets }: Pick<Deps, 'secrets'>,
  definition: { id: string } & Parameters<typeof secretsOf>[0],
) => ({
  values: secrets.seal(JSON.stringify([...definition.values]), sealedAs(definition.id)),
  secretValues: sealServiceSecrets(secrets, definition.id, secretsOf(definition)),
})

function openValues({ secrets }: Deps, { id, name, values }: Service): Map<string, string> {
  try {
    return new Map(JSON.parse(secrets.open(values, sealedAs(id))))
  } catch (cause) {
    throw new Failure(
      'values_unreadable',
      `The values of the service ${name} can no longer be read.`,
      'Start Davit with its previous key: its key file, or DAVIT_SECRET_KEY.',
      { cause },
    )
  }
}

/** The additional data of definitions that are already stored. */
const sealedForJob = (serviceId: string) => `service before ${serviceId}`

export const sealDefinition = ({ secrets }: Pick<Deps, 'secrets'>, definition: Stored) =>
  secrets.seal(textOf(definition), sealedForJob(definition.id))

export function unsealDefinition(
  { secrets }: Pick<Deps, 'secrets'>,
  service: Service,
  sealed: string,
): Promise<Definition> {
  const { values, ...kept } = JSON.parse(secrets.open(sealed, sealedForJob(service.id)))
  return opened({ ...service, ...kept, values: new Map(values) })
}

const sealedForBackup = (backupId: string) => `service of backup ${backupId}`

/** Encrypts what another instance can be created from once this one is deleted. */
export const sealBackedUp = (deps: Deps, service: Service, backupId: string) =>
  deps.secrets.seal(
    JSON.stringify({ template: service.template, text: textOf(storedIn(deps, service)) }),
    sealedForBackup(backupId),
  )

/** Throws a Failure when it can't be read. */
export async function openBackedUp(
  { secrets }: Pick<Deps, 'secrets'>,
  of: { backupId: string; serviceId: string; ownerId: string; sealed: string },
): Promise<Definition> {
  const { template, text } = JSON.parse(secrets.open(of.sealed, sealedForBackup(of.backupId)))
  const { values, ...kept } = JSON.parse(text)
  const base = { id: of.serviceId, ownerId: of.ownerId, host: null, template, placement: null }
  return opened({ ...kept, ...base, values: new Map(values) })
}

function textOf({ values, ...stored }: Stored) {
  const { name, version, domains, compose, allowed, allowedBy, ports, placement } = stored
  const plain = { name, version, domains, compose, allowed, allowedBy, ports, placement }
  return JSON.stringify({ ...plain, values: [...values] })
}
