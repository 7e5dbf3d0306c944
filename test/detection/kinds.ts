import { nodeKinds } from './node-kinds.ts'
import { caddy, json } from './plan.ts'
import type { Kind } from './plan.ts'

const fastapi = 'from fastapi import FastAPI\n\napp = FastAPI()\n'
const sh = (line: string) => ['sh', '-c', `exec ${line}`]

export const kinds: Kind[] = [
  ...nodeKinds,
  [
    'Django',
    { 'manage.py': '', 'requirements.txt': 'Django==5.2\ngunicorn', 'shop/wsgi.py': '' },
    'python:3.14-slim',
    sh('gunicorn --bind 0.0.0.0:$PORT shop.wsgi:application'),
  ],
  [
    'FastAPI',
    {
      'pyproject.toml':
        '[project]\nname = "x"\nrequires-python = ">=3.12,<3.14"\ndependencies = ["fastapi[standard]"]',
      'uv.lock': '',
      'app/main.py': fastapi,
    },
    'python:3.13-slim',
    sh('uvicorn app.main:app --host 0.0.0.0 --port $PORT'),
  ],
  [
    'Flask',
    { 'requirements.txt': 'Flask', 'web/__init__.py': '', 'app.py': 'def create_app():\n  pass' },
    'python:3.14-slim',
    ['sh', '-c', `exec gunicorn --bind 0.0.0.0:$PORT 'app:create_app()'`],
  ],
  [
    'Streamlit',
    { 'requirements.txt': 'streamlit', 'app.py': '' },
    'python:3.14-slim',
    sh('streamlit run app.py --server.port $PORT --server.address 0.0.0.0 --server.headless true'),
  ],
  [
    'Python',
    { 'main.py': '', '.python-version': '3.12' },
    'python:3.12-slim',
    ['python', 'main.py'],
  ],
  [
    'Gin',
    {
      'go.mod': 'module x\n\ngo 1.22.0\n\nrequire github.com/gin-gonic/gin v1.10.0\n',
      'main.go': '',
    },
    'alpine:3.24',
    ['/app/app'],
  ],
  [
    'Go',
    {
      'go.mod': 'module x\n\nrequire (\n\tgithub.com/mattn/go-sqlite3 v1.14.0\n)\n',
      'cmd/server/main.go': '',
      'cmd/tool/main.go': '',
    },
    'debian:trixie-slim',
    ['/app/app'],
  ],
  [
    'Axum',
    {
      'Cargo.toml': '[package]\nname = "web"\n[dependencies]\naxum = "0.8"',
      'Cargo.lock': '',
      'src/main.rs': '',
    },
    'debian:trixie-slim',
    ['/app/app'],
  ],
  [
    'Rails',
    {
      Gemfile: `gem "rails"`,
      'Gemfile.lock': '    rails (8.0.1)\n    pg (1.5.9)\n',
      '.ruby-version': 'ruby-3.4.2',
    },
    'base',
    ['bin/rails', 'server', '-b', '0.0.0.0'],
  ],
  [
    'Sinatra',
    { Gemfile: `gem 'sinatra'\ngem 'puma'`, 'config.ru': '' },
    'base',
    sh('bundle exec puma -b tcp://0.0.0.0:$PORT'),
  ],
  [
    'Laravel',
    {
      'composer.json': json({ require: { php: '^8.3', 'laravel/framework': '^12' } }),
      'composer.lock': '{}',
      'public/index.php': '',
    },
    'base',
    null,
  ],
  ['PHP', { 'index.php': '' }, 'php:8.5-apache', null],
  [
    'Spring Boot',
    {
      'pom.xml':
        '<artifactId>spring-boot-starter-parent</artifactId><java.version>17</java.version>',
    },
    'eclipse-temurin:17-jre',
    sh('java -Dserver.port=$PORT -jar app.jar'),
  ],
  [
    'Quarkus',
    { 'build.gradle': `id 'io.quarkus'` },
    'eclipse-temurin:21-jre',
    sh('java -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=$PORT -jar quarkus-run.jar'),
  ],
  [
    'ASP.NET Core',
    {
      'src/Web/Web.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net9.0</TargetFramework></Project>',
    },
    'mcr.microsoft.com/dotnet/aspnet:9.0',
    ['sh', '-c', 'ASPNETCORE_HTTP_PORTS=$PORT exec dotnet "./Web.dll"'],
  ],
  [
    'Phoenix',
    { 'mix.exs': 'defmodule Shop.MixProject do\n app: :shop,\n {:phoenix, "~> 1.8"}' },
    'debian:trixie-slim',
    ['/app/bin/shop', 'start'],
  ],
  [
    'Symfony',
    {
      'composer.json': json({ require: { php: '^8.3', 'symfony/framework-bundle': '^7' } }),
      'composer.lock': '{}',
      'public/index.php': '',
    },
    'base',
    null,
  ],
  [
    'Flask',
    {
      'pyproject.toml': '[tool.poetry.dependencies]\npython = "~3.12"\nflask = "^3"\n',
      'poetry.lock': '',
      'app.py': 'app = Flask(__name__)',
    },
    'python:3.12-slim',
    sh('gunicorn --bind 0.0.0.0:$PORT app:app'),
  ],
  [
    'Django',
    {
      'pyproject.toml': '[project]\nname = "x"\ndependencies = ["django", "uvicorn"]\n',
      'pdm.lock': '',
      'manage.py': '',
      'shop/wsgi.py': '',
    },
    'python:3.14-slim',
    sh('uvicorn shop.asgi:application --host 0.0.0.0 --port $PORT'),
  ],
  [
    'Gradio',
    { Pipfile: '[packages]\ngradio = "*"', 'Pipfile.lock': '{}', 'app.py': '' },
    'python:3.14-slim',
    ['sh', '-c', 'GRADIO_SERVER_PORT=$PORT exec python app.py'],
  ],
  [
    'Ktor',
    { 'build.gradle.kts': 'io.ktor jvmToolchain(17)', 'src/main/kotlin/A.kt': '' },
    'eclipse-temurin:17-jre',
    sh('java -jar app.jar -port=$PORT'),
  ],
  [
    'Micronaut',
    { 'pom.xml': 'io.micronaut <maven.compiler.release>25</maven.compiler.release>' },
    'eclipse-temurin:25-jre',
    sh('java -Dmicronaut.server.port=$PORT -jar app.jar'),
  ],
  [
    '.NET',
    { 'a.fsproj': '<OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework>' },
    'mcr.microsoft.com/dotnet/runtime:8.0',
    ['dotnet', './a.dll'],
  ],
  ['Hugo', { 'hugo.toml': '', 'content/a.md': '' }, caddy.base, caddy.command],
  ['Jekyll', { '_config.yml': '', Gemfile: `gem 'jekyll'` }, caddy.base, caddy.command],
  [
    'Jekyll',
    {
      '_config.yml': '',
      'index.html': '',
      Gemfile: `gem "github-pages", group: :jekyll_plugins`,
      'Gemfile.lock': '    github-pages (232)\n    jekyll (3.10.0)\n',
    },
    caddy.base,
    caddy.command,
  ],
  [
    'Jekyll',
    { '_config.yml': '', Gemfile: `gem "github-pages", group: :jekyll_plugins` },
    caddy.base,
    caddy.command,
  ],
  ['mdBook', { 'book.toml': '', 'src/SUMMARY.md': '' }, caddy.base, caddy.command],
  ['Static files', { 'public/index.html': '' }, caddy.base, caddy.command],
]
