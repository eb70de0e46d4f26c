// qt.cc - QCborValue of Qt: qt encode|decode turns JSON on standard input into CBOR, or CBOR into JSON.
#include <QCborValue>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QString>
#include <cstdio>

int main(int, char **argv)
{
    QFile in, out;
    in.open(stdin, QIODevice::ReadOnly);
    out.open(stdout, QIODevice::WriteOnly);
    QByteArray input = in.readAll();
    if (QString(argv[1]) == "decode")
        out.write(QJsonDocument(QCborValue::fromCbor(input).toJsonValue().toObject()).toJson());
    else
        out.write(QCborValue::fromJsonValue(QJsonDocument::fromJson(input).object()).toCbor());
}
