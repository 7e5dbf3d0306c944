import { Controller, Get, Module } from '@nestjs/common'

@Controller()
class AppController {
  @Get()
  greet() {
    return 'Hello, world'
  }
}

@Module({ controllers: [AppController] })
export class AppModule {}
