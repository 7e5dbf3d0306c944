import type { Family } from './exposition.ts'

const of =
  (type: Family['type']) =>
  (name: string, help: string): Family => ({ name, type, help })
const [gauge, counter, histogram] = [of('gauge'), of('counter'), of('histogram')]

/** What `/metrics` has, in its order. `assets/docs/metrics.md` names them. */
export const families = {
  build: of('info')('davit_build', 'The version of Davit.'),
  state: gauge(
    'davit_state',
    'One sample for each app and service: its label state says how it is.',
  ),
  containers: gauge('davit_containers', 'Containers of the live version by process and state.'),
  restarts: counter(
    'davit_container_restarts',
    'How often Docker restarted the container of a replica. A new one begins at 0.',
  ),
  memory: gauge(
    'davit_container_memory_bytes',
    'Memory of the containers of a process without page cache, measured every 10 seconds.',
  ),
  memoryLimit: gauge(
    'davit_container_memory_limit_bytes',
    'Memory that those containers may use together.',
  ),
  cpu: counter('davit_container_cpu_seconds', 'Processor time of the container of a replica.'),
  received: counter(
    'davit_container_network_received_bytes',
    'What the container of a replica received.',
  ),
  sent: counter('davit_container_network_sent_bytes', 'What the container of a replica sent.'),
  requests: counter(
    'davit_http_requests',
    'Requests through Caddy by class of status; aborted is without a response.',
  ),
  durations: histogram(
    'davit_http_request_duration_seconds',
    'Seconds until requests through Caddy had their whole response, within 5 %.',
  ),
  requestBytes: counter('davit_http_request_bytes', 'Bodies of requests through Caddy.'),
  responseBytes: counter('davit_http_response_bytes', 'Bodies of responses through Caddy.'),
  deployments: counter('davit_deployments', 'Deployments that began and ended, by result.'),
  deploymentDurations: histogram(
    'davit_deployment_duration_seconds',
    'Seconds from the first step of a deployment to its end.',
  ),
  certificates: gauge(
    'davit_certificate_expiry_timestamp_seconds',
    'When the certificate of a host ends, in seconds since 1970.',
  ),
  planned: gauge('davit_backup_planned', '1 if there is a plan of backups.'),
  backedUp: gauge(
    'davit_backup_last_success_timestamp_seconds',
    'When the newest backup that succeeded and still exists ended, in seconds since 1970.',
  ),
  proven: gauge(
    'davit_backup_last_proof_timestamp_seconds',
    'When a backup that still exists was last proven restorable, in seconds since 1970.',
  ),
  backupFails: gauge('davit_backup_failing', '1 if the last backup failed.'),
  drained: counter(
    'davit_drain_lines_sent',
    'Lines that the receiver of a log drain has accepted.',
  ),
  leftOut: counter('davit_drain_lines_dropped', 'Lines that a log drain left out.'),
  drainWaits: gauge('davit_drain_lines_waiting', 'Lines that a log drain has not sent yet.'),
  drainFails: gauge('davit_drain_failing', '1 if the last attempt of a log drain failed.'),
  jobs: gauge('davit_jobs', 'Queued and running jobs by kind.'),
  docker: gauge('davit_docker_up', '1 if Docker responds.'),
  edge: gauge('davit_edge_healthy', '1 if domains are served as they are set.'),
  diskSize: gauge('davit_disk_size_bytes', 'The disk of the data directory.'),
  diskFree: gauge('davit_disk_free_bytes', 'What is free on that disk.'),
  serverMemory: gauge('davit_server_memory_bytes', 'The memory of the server.'),
  serverMemoryUsed: gauge(
    'davit_server_memory_used_bytes',
    'What is used of it, without what can be freed at once.',
  ),
  ownMemory: gauge('process_resident_memory_bytes', 'Memory of Davit itself.'),
  ownCpu: counter('process_cpu_seconds', 'Processor time of Davit itself.'),
  ownStart: gauge('process_start_time_seconds', 'When Davit started, in seconds since 1970.'),
}
