from django.http import HttpResponse
from django.urls import path


def page(request):
    return HttpResponse("Hello, world")


urlpatterns = [path("", page)]
