import { z } from 'zod'
import { operations as accounts } from '../accounts/json.ts'
import { invite } from '../accounts/invite.tsx'
import { apiToken } from '../accounts/api-token.tsx'
import { operations as admin } from '../admin/json.ts'
import { operations as apps } from '../apps/json.ts'
import { target } from '../backups/targets/target.tsx'
import { operations as audit } from '../audit/json.ts'
import { operations as backups } from '../backups/json.ts'
import { operations as cleanUp } from '../containers/clean-up/json.ts'
import { operations as containers } from '../containers/json.ts'
import { operations as deployments } from '../deployments/json.ts'
import { operations as docs } from '../docs/json.ts'
import { operations as domains } from '../domains/json.ts'
import { operations as environments } from '../environments/json.ts'
import { operations as git } from '../git/json.ts'
import { gitSource } from '../git/git-source.tsx'
import { operations as links } from '../links/json.ts'
import { operations as map } from '../map/json.ts'
import { operations as metrics } from '../metrics/routes.ts'
import { operations as moves } from '../moves/json.ts'
import { operations as palette } from '../palette/json.ts'
import { operations as previews } from '../previews/json.ts'
import { operations as projects } from '../projects/json.ts'
import { registry } from '../registries/registry.tsx'
import { operations as notifications } from '../notifications/json.ts'
import { channel } from '../notifications/channel.tsx'
import { operationsOf } from '../resources/resource.ts'
import { operations as runs } from '../runs/json.ts'
import { freeze } from '../deployments/freezes.tsx'
import { schedule } from '../schedules/schedule.tsx'
import { drain } from '../drains/drain.tsx'
import { codeOperations } from '../servers/code-routes.tsx'
import { joinOperations } from '../servers/join-routes.ts'
import { server } from '../servers/server.tsx'
import { operations as services } from '../services/json.ts'
import { operations as traffic } from '../traffic/json.ts'
import { operations as health } from '../web/health.ts'
import { does } from '../web/operation.ts'
import type { Operation, SliceOperations } from '../web/operation.ts'
import { operations as webhooks } from '../webhooks/json.ts'

const own: SliceOperations = () => ({
  Health: {
    'GET /api/openapi.json': does('Get this document', z.looseObject({ openapi: z.string() })),
  },
})

/** In the order of the document, within each part. */
const slices: SliceOperations[] = [
  ...[projects, map, palette, apps, previews, deployments, environments, links, domains, runs],
  ...[operationsOf(schedule), operationsOf(freeze), operationsOf(drain)],
  ...[
    services,
    moves,
    backups,
    operationsOf(target),
    traffic,
    containers,
    git,
    operationsOf(gitSource),
  ],
  ...[webhooks, operationsOf(registry), operationsOf(channel), notifications],
  ...[accounts, operationsOf(apiToken)],
  ...[
    admin,
    operationsOf(invite),
    operationsOf(server),
    codeOperations,
    joinOperations,
    audit,
    cleanUp,
    health,
    metrics,
    docs,
    own,
  ],
]

/** The tags of the document, in its order. */
export const parts: Record<string, string> = {
  Projects: 'A repository, and how it is built.',
  Environments: 'Where a project runs, and with which variables.',
  Domains: 'Names that lead to apps and services, and how they are served.',
  Deployments: 'From a commit to running containers.',
  Runs: 'Commands in new containers of the live image, once or by schedule.',
  Services: 'Databases and other software from the catalog or a file.',
  Containers: 'What runs, its log and its usage.',
  Git: 'Git hosts, their repositories and branches.',
  Webhooks: 'Pushes that git hosts report.',
  Registries: 'Logins for private images.',
  Backups: 'Where and when data is backed up, and what is stored there.',
  Notifications: 'What happened, and where you are told of it.',
  Accounts: 'Your login, profile and tokens.',
  Administration: 'All users, the audit log and the disk.',
  Health: 'The server itself.',
}

export function listOperations(): { tag: string; route: string; operation: Operation }[] {
  const described = slices.map((operations) => operations())
  return Object.keys(parts).flatMap((tag) =>
    described.flatMap((byPart) =>
      Object.entries(byPart[tag] ?? {}).map(([route, operation]) => ({ tag, route, operation })),
    ),
  )
}
